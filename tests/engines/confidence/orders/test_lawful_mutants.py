"""Rules of rows under a law, each broken once: worked numbers, whole keys and thresholds tell it.

fault                                       found by
^ is forgotten, $ is forgotten              two events of a key alone
m counts all repeats of a run               a repeat farther on in the run
each order has all ticks of a tie           the numbers of the specification
the judge counts a tie in one order         the numbers of the specification
a slice cuts a key                          the slices of a query whose window is shorter than a key
a task reads what the query names           a key of which most events have other types
the bound without the law ends a search     a row that the law lifts over the threshold
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pytest

from cepctl.engines.confidence.orders import sweep, under_laws
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.match import match_events
from cepctl.engines.kernels.stages import only
from cepctl.engines.order_laws import cells
from cepctl.engines.order_laws.keys import Factors
from cepctl.engines.runners import slices
from cepctl.engines.runners.reach import Reach, Relevance, reach_of
from cepctl.engines.worlds import order_weights
from cepctl.engines.worlds.engine import match_table
from cepctl.laws.law import BEGIN, END, OrderLaw
from cepctl.plan.plan import Plan
from tests.engines.confidence.orders import test_keys_stay_whole as whole
from tests.engines.order_laws.test_law_mutants import of_the_whole_key, rewritten
from tests.plans import Event, event_table, plan_of

THREE = (Event("a", "A", 1, 4, k="1"), Event("b", "B", 1, 4, k="1"), Event("c", "C", 3, 6, k="1"))
TWO = (Event("a", "A", 1, 2, k="1"), Event("b", "B", 1, 2, k="1"))
FARTHER = (*THREE[:2], Event("c", "C", 4, 8, k="1"), Event("d", "B", 7, 8, k="1"))
NUMBERS = (
    (THREE, OrderLaw("k", following={("A", "B"): 4.0}), 9 / 16),
    (THREE, OrderLaw("k", before={("A", "B"): 4.0}), 3 / 5),
    (TWO, OrderLaw("k", following={("^", "A"): 3.0}), 3 / 8),
    (TWO, OrderLaw("k", following={("B", "$"): 3.0}), 3 / 8),
    (FARTHER, OrderLaw("k", before={("A", "B"): 4.0}), 3 / 5),
)


def numbers_hold(engine: Callable[[Plan, pa.Table], pa.Table]) -> None:
    for events, law, wanted in NUMBERS:
        plan = replace(plan_of("PATTERN SEQ(A a, B b)"), laws=(law,))
        with only("interpreted"):
            rows = engine(plan, event_table(events)).to_pylist()
        found = {tuple(ids for (ids,) in row["signature"]): row["confidence"] for row in rows}
        assert found["a", "b"] == pytest.approx(wanted, abs=1e-12)


def rows_hold() -> None:
    numbers_hold(match_events)


def the_judge_holds() -> None:
    numbers_hold(match_table)


def keys_are_not_cut() -> None:
    whole.test_nothing_splits_a_query_that_would_cut_keys("SEQ(A a, B b)")


@dataclass(frozen=True)
class Fault:
    """A broken rule, what stands in place of what, and what is to tell it."""

    broken: str
    owner: Any
    attribute: str
    replacement: Any
    told_by: Callable[[], None]


def _without(end: str) -> Any:
    """Factors that forget one end of a key."""
    stated = Factors.of_law

    def of_law(law: OrderLaw, steps: Sequence[str]) -> Factors:
        kept = {pair: factor for pair, factor in law.following.items() if end not in pair}
        return stated(replace(law, following=kept), steps)

    return staticmethod(of_law)


def _in_one_order(key: order_weights.KeyUnderLaw, pattern: tuple[int, ...]) -> Any:
    return key._of_order(sorted(range(len(pattern)), key=pattern.__getitem__))


def _reach_without_laws(plan: Plan) -> Reach | None:
    return reach_of(replace(plan, laws=()))


def _condition_without_laws(relevance: Relevance) -> Any:
    return _condition.func(Relevance(replace(relevance.plan, laws=()), relevance.rows))


def _bounded_without_law(prepared: PreparedAlternative, threshold: Any) -> PreparedAlternative:
    bounded = _above(replace(prepared, events=replace(prepared.events, orders=None)), threshold)
    return replace(prepared, search=bounded.search)


_above = PreparedAlternative.above
_condition: Any = vars(Relevance)["_condition"]
FAULTS = [
    Fault("^ is forgotten", Factors, "of_law", _without(BEGIN), rows_hold),
    Fault("$ is forgotten", Factors, "of_law", _without(END), rows_hold),
    Fault("m counts all repeats of a run", under_laws, "habits", of_the_whole_key, rows_hold),
    Fault(
        "each order has all ticks of a tie",
        sweep,
        "passed",
        rewritten(cells, "passed", "held if held > 1", "1.0 if held > 1"),
        rows_hold,
    ),
    Fault(
        "the judge counts a tie in one order",
        order_weights.KeyUnderLaw,
        "_mean",
        _in_one_order,
        the_judge_holds,
    ),
    Fault("a slice cuts a key", slices, "reach_of", _reach_without_laws, keys_are_not_cut),
    Fault(
        "a task reads what the query names",
        Relevance,
        "_condition",
        property(_condition_without_laws),
        whole.test_tasks_read_all_events_of_keys_whatever_their_types,
    ),
    Fault(
        "the bound without the law ends a search",
        PreparedAlternative,
        "above",
        _bounded_without_law,
        whole.test_a_row_that_the_law_lifts_over_the_threshold_is_found,
    ),
]


def test_no_rule_is_broken_as_it_stands() -> None:
    for told_by in (rows_hold, the_judge_holds):
        told_by()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.broken)
def test_a_broken_rule_is_noticed(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault.owner, fault.attribute, fault.replacement)
    with pytest.raises(AssertionError):
        fault.told_by()
