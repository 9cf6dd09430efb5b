"""Every bound that ends a search early, made a little too tight: each is found by the property of thresholds.

Cases are the same each time, so that each fault is found every time.

    fault                                             found by
    the bound of a chain is 1 % too low               single events
    a chain has all events of an AND                  single events
    events of different clocks are bounded together   clocks
    ranges of shapes end a tick early                 pairs
    an empty group is 1 % too improbable              groups that hold all
    a group with one more is 1 % too improbable       groups that hold all
    a finished group is 1 % too improbable            groups that hold all
    a sequence is 1 % too improbable                  sequences
    a gap ends a tick early                           sets
    neighbours lie a tick closer                      sets
    what is left out lies a tick further out          groups that hold all
    single events alone end the gap of a group        groups that hold all
    the window of a group is that of any event        groups that hold all
    a summary's neighbours are 1 % too improbable     summary
    too few occurrences are measured                  GROUP BY
    one fewer of the best is looked for               the best
    ties of the last of the best are lost             the best of few that are held
    a rival leaves a tick less after an event         the judge, next match
    a rival leaves a tick less before an event        the judge, next match, any order
    a predicate that may become true is judged early  the judge, Kleene sets
    the last of the keys joins nothing                the judge, chains
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.engines.columns.joins import JoinKey, join_key
from cepctl.engines.event import alternative, groups, match
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.search import narrowed_joins, search, threshold
from cepctl.engines.search.kleene import candidates, cell_bounds
from cepctl.engines.search.kleene.candidates import WholeSpans
from cepctl.engines.search.kleene.cell_bounds import CellBounds, SureGap
from cepctl.engines.search.kleene.cell_products import pair_cells
from cepctl.engines.search.threshold import PairRange, PushDown, Threshold, pair_range, upper_bounds
from cepctl.numeric.arrays import Indexes, Reals, Ticks
from cepctl.plan.consistency import Consistency
from tests.engines.agreement import assert_same_rows, check
from tests.engines.event.test_kleene_summary import CASES as SUMMARIES
from tests.engines.test_engines_agree import event_engine_agrees
from tests.engines.threshold_cases import (
    TIES,
    a_threshold_leaves_what_a_filter_would,
    questions,
    the_best_are_the_first_of_all,
)
from tests.plans import plan_of
from tests.strategies import LEVELS, Case

TESTS = Path(__file__).resolve().parents[1]
EXAMPLES = 400
SEEDS = {
    "a chain has all events of an AND": 0,
    "events of different clocks are bounded together": 1,
    "the window of a group is that of any event": 1,
}
"""Under these a fault that few cases show is among the first dozen that are drawn."""
_LESS = 0.99

QUESTIONS = questions(SUMMARIES["histograms"] | SUMMARIES["intervals"])


def backwards_agrees(case: Case) -> None:
    """The last component is bound first."""
    plan = plan_of(case.query)
    counts = {"A": 3, "B": 2, "C": 1}
    found = match_events(plan, case.table, MatchOptions("selectivity", counts))
    assert_same_rows(match_events(plan, case.table), found)


PROPERTIES: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], None]]] = {
    **{
        name: (st.tuples(cases, st.just(0.0)), a_threshold_leaves_what_a_filter_would)
        for name, cases in QUESTIONS.items()
    },
    "the best": (
        st.tuples(QUESTIONS["groups"] | QUESTIONS["single events"], st.integers(1, 3)),
        the_best_are_the_first_of_all,
    ),
    "the best of few that are held": (
        st.just((TIES, 1)),
        the_best_are_the_first_of_all,
    ),
    **{f"the judge, {name}": (cases, event_engine_agrees) for name, cases in LEVELS.items()},
    "the judge, next match, any order": (LEVELS["next match"], backwards_agrees),
}


# --- the faults: each calls what it stands in place of, and spoils one thing -----------------

_original: dict[str, Any] = {
    "started": CellBounds.started,
    "longer": CellBounds.longer,
    "finished": CellBounds.finished,
    "of_sequences": CellBounds.of_sequences,
    "sure_gap": WholeSpans.sure_gap,
    "upper_bounds": upper_bounds,
    "__init__": Threshold.__init__,
    "in_reach": Threshold.in_reach,
    "rise": Threshold.rise,
    "pair_cells": pair_cells,
    "_widest": cell_bounds._widest,
    "_narrowest": cell_bounds._narrowest,
    "least_occurrence": groups.least_occurrence,
    "_least_after": narrowed_joins._least_after,
    "_greatest_before": narrowed_joins._greatest_before,
}


def _scaled(name: str) -> Callable[..., Any]:
    return lambda *arguments, **named: _original[name](*arguments, **named) * _LESS


def _shifted(name: str, ticks: int) -> Callable[..., Any]:
    return lambda *arguments: _original[name](*arguments) + ticks


def _every_column(alternative: Any, singles: Any, columns: Any) -> list[int]:
    return sorted(columns)


def _as_of_one_clock(self: PushDown, chain: Indexes, system: Ticks) -> Reals:
    return upper_bounds(self.masses, chain, system)


def _short_range(*arguments: Any) -> PairRange:
    found = pair_range(*arguments)
    return replace(found, most=found.most - 1)


def _ends_early(*arguments: Any) -> tuple[Ticks, Ticks]:
    first, last = _original["_widest"](*arguments)
    return first, last - 1


def _closer(before: Any, after: Any, earlier: int, later: int, *rest: Any) -> None:
    _original["pair_cells"](before, after, earlier - 1, later - 1, *rest)


def _further_out(*arguments: Any, **named: Any) -> tuple[Ticks, Ticks]:
    first, last = _original["_narrowest"](*arguments, **named)
    return first - 1, last + 1


def _of_single_events(self: WholeSpans, count: int, bound: Any) -> SureGap | None:
    """A group beside it ends the gap nowhere, and what is not bound yet no more."""
    found: SureGap | None = _original["sure_gap"](self, count, bound)
    if found is None:
        return None
    first, last = found.first, found.last
    if found.after < 0:
        first = np.full_like(first, -(2**61))
    if found.until < 0:
        last = np.full_like(last, 2**61)
    return replace(found, first=first, last=last)


def _of_any_event(self: WholeSpans, count: int, bound: Any) -> SureGap | None:
    """The window after the event just before the group, not after the first one."""
    found: SureGap | None = _original["sure_gap"](self, count, bound)
    return found if found is None or found.reach < 0 else replace(found, until=found.after)


def _of_neighbours(self: Threshold, bounds: Reals) -> Any:
    return _original["in_reach"](self, bounds * _LESS)


def _one_fewer(self: Threshold, least: float, top: int | None = None) -> None:
    _original["__init__"](self, least, top and max(top - 1, 1))


def _without_ties(self: Threshold, confidence: float, start: int) -> None:
    _original["rise"](self, confidence, start - 1)


def _without_the_last_key(*arguments: Any) -> JoinKey:
    found = join_key(*arguments)
    codes = found.candidate_codes
    return replace(found, candidate_codes=np.where(codes == codes.max(initial=0), -1, codes))


@dataclass(frozen=True)
class Mutant:
    """A bound made too tight: where it is planted, and the property that must find it."""

    fault: str
    owner: Any
    name: str
    replacement: Any
    found_by: str


MUTANTS = [
    Mutant(
        "the bound of a chain is 1 % too low",
        threshold,
        "upper_bounds",
        _scaled("upper_bounds"),
        "single events",
    ),
    Mutant("a chain has all events of an AND", threshold, "chain_columns", _every_column, "single events"),
    Mutant(
        "events of different clocks are bounded together", PushDown, "_bounds", _as_of_one_clock, "clocks"
    ),
    Mutant("ranges of shapes end a tick early", threshold, "pair_range", _short_range, "pairs"),
    Mutant(
        "an empty group is 1 % too improbable",
        CellBounds,
        "started",
        _scaled("started"),
        "groups that hold all",
    ),
    Mutant(
        "a group with one more is 1 % too improbable",
        CellBounds,
        "longer",
        _scaled("longer"),
        "groups that hold all",
    ),
    Mutant(
        "a finished group is 1 % too improbable",
        CellBounds,
        "finished",
        _scaled("finished"),
        "groups that hold all",
    ),
    Mutant(
        "a sequence is 1 % too improbable", CellBounds, "of_sequences", _scaled("of_sequences"), "sequences"
    ),
    Mutant("a gap ends a tick early", cell_bounds, "_widest", _ends_early, "sets"),
    Mutant("neighbours lie a tick closer", cell_bounds, "pair_cells", _closer, "sets"),
    Mutant(
        "what is left out lies a tick further out",
        cell_bounds,
        "_narrowest",
        _further_out,
        "groups that hold all",
    ),
    Mutant(
        "single events alone end the gap of a group",
        WholeSpans,
        "sure_gap",
        _of_single_events,
        "groups that hold all",
    ),
    Mutant(
        "the window of a group is that of any event",
        WholeSpans,
        "sure_gap",
        _of_any_event,
        "groups that hold all",
    ),
    Mutant("a summary's neighbours are 1 % too improbable", Threshold, "in_reach", _of_neighbours, "summary"),
    Mutant(
        "too few occurrences are measured",
        groups,
        "least_occurrence",
        lambda plan: _original["least_occurrence"](plan) * 1.5,
        "GROUP BY",
    ),
    Mutant("one fewer of the best is looked for", Threshold, "__init__", _one_fewer, "the best"),
    Mutant(
        "ties of the last of the best are lost",
        Threshold,
        "rise",
        _without_ties,
        "the best of few that are held",
    ),
    Mutant(
        "a rival leaves a tick less after an event",
        narrowed_joins,
        "_least_after",
        _shifted("_least_after", -1),
        "the judge, next match",
    ),
    Mutant(
        "a rival leaves a tick less before an event",
        narrowed_joins,
        "_greatest_before",
        _shifted("_greatest_before", 1),
        "the judge, next match, any order",
    ),
    Mutant(
        "a predicate that may become true is judged early",
        candidates,
        "_FINAL",
        tuple(Consistency),
        "the judge, Kleene sets",
    ),
    Mutant(
        "the last of the keys joins nothing", search, "join_key", _without_the_last_key, "the judge, chains"
    ),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.fault)
def test_a_bound_that_is_too_tight_is_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    if mutant.name == "rise":
        monkeypatch.setattr(match, "_HELD_AT_LEAST", 1)
        monkeypatch.setattr(alternative, "FEWEST_STARTS", 1)
    monkeypatch.setattr(mutant.owner, mutant.name, mutant.replacement)
    cases, holds = PROPERTIES[mutant.found_by]
    with pytest.raises(AssertionError) as problem:
        check(cases, holds, EXAMPLES, shrink=False, seed=SEEDS.get(mutant.fault))
    # Found by the property, not by an engine that stumbled over its own fault.
    assert Path(problem.traceback[-1].path).is_relative_to(TESTS)


def test_the_table_above_names_every_fault() -> None:
    missing = [mutant.fault for mutant in MUTANTS if f"    {mutant.fault}  " not in (__doc__ or "")]
    assert missing == []
