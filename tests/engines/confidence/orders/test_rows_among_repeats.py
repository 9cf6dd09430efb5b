"""A row in a key of many repeats under large factors: products leave the floats, their ratio is exact."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.kernels.stages import only
from cepctl.engines.order_laws import sets
from cepctl.engines.worlds.engine import match_table
from cepctl.laws.law import OrderLaw
from tests.engines.agreement import FEW_EXAMPLES, assert_same_rows, check
from tests.engines.confidence.orders.lawful_cases import LawfulCase, lawful_cases
from tests.plans import Event, event_table, plan_of
from tests.strategies import chain_cases, negation_cases

WIDE = 1 << 50
"""So many ticks that no two events share one, as far as a probability shows."""


def c_before_d(count: int, factor: int) -> Fraction:
    """How probable it is that C comes before D among so many A, where a pair AA counts `factor`, CD 3."""
    words: dict[tuple[int, bool, bool, str, bool], int] = {(0, False, False, "", False): 1}
    for _ in range(count + 2):
        longer: dict[tuple[int, bool, bool, str, bool], int] = defaultdict(int)
        for (repeats, has_c, has_d, last, first), weight in words.items():
            if repeats < count:
                longer[repeats + 1, has_c, has_d, "A", first] += weight * (factor if last == "A" else 1)
            if not has_c:
                longer[repeats, True, has_d, "C", first] += weight
            if not has_d:
                longer[repeats, has_c, True, "D", has_c] += weight * (3 if last == "C" else 1)
        words = longer
    return Fraction(sum(w for word, w in words.items() if word[-1]), sum(words.values()))


@pytest.mark.parametrize(("count", "factor"), [(10, 30), (180, 30), (180, 3_000)])
def test_a_row_among_hundreds_of_repeats(count: int, factor: int) -> None:
    law = OrderLaw("k", following={("A", "A"): float(factor), ("C", "D"): 3.0})
    events = [Event(f"e{i}", "A", 0, WIDE, k="1") for i in range(count)]
    events += [Event("c", "C", 0, WIDE, k="1"), Event("d", "D", 0, WIDE, k="1")]
    plan = replace(plan_of("PATTERN SEQ(C c, D d)"), laws=(law,))
    (row,) = match_events(plan, event_table(events)).to_pylist()
    assert row["confidence"] == pytest.approx(float(c_before_d(count, factor)), rel=1e-9)


def test_dividing_each_set_of_a_row_by_a_power_of_two_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def agree(drawn: LawfulCase) -> None:
        with only("interpreted"):
            found = match_events(drawn.plan, drawn.table)
        assert_same_rows(match_table(drawn.plan, drawn.table), found)

    monkeypatch.setattr(sets, "_MOST_EXPONENT", -1)
    check(lawful_cases(chain_cases()), agree, FEW_EXAMPLES)
    check(lawful_cases(negation_cases()), agree, FEW_EXAMPLES)
