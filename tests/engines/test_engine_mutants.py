"""Each property of the suite fails on an event engine with one fault planted; the table says on which.

A property that no fault can break proves nothing.  Faults are planted at the functions between the
steps of the engine, wherever these are imported.

    fault                                          found by (levels of test_engines_agree; invariances)
    a window is a tick wider                       chains
    SEQ is without order                           chains
    valid intervals end a tick early               chains, AND, everything
    a cell of a chain is a tick too short          chains
    a histogram is uniform                         chains
    events that only touch are not joined          negation
    links are not asked                            chains
    ties are rivals                                next match, contiguity, negation
    links do not decide rivals                     next match
    one rival is forgotten                         negation, under all strategies, runs, sets that are read
    a trailing negation looks a tick too far       negation
    the last gap is not looked at                  contiguity, all groups under contiguity
    ties of a set count twice                      AND, Kleene sets
    the members of a set lie anywhere              AND, Kleene sets, quantified groups
    a group has one member                         Kleene sets
    a sequence is in the order of the ids          Kleene sequences
    members of the preceding group are not rivals  Kleene under next match
    what is passed over may have been there        Kleene sets that may be absent under next match
    a signature is returned per alternative        OR, OR of whole patterns, of events and groups
    the last alternative of OR speaks for all      OR of whole patterns under the other strategies
    timings select no worlds                       timing, timing of groups, both under the other strategies
    joining backwards misses the last tick         orders of evaluation
    ticks saturate early                           shifting time
    a rival with a later id does not count         renaming
    the last event of the input is lost            order of the input
    a mass is its first bucket                     splitting a mass
    a negated component fits any type              an irrelevant event
    a window also bounds below                     a wider window
    next match is any match                        next matches of one start
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch
from cepctl.engines.columns.events import Events, _in_order
from cepctl.engines.columns.joins import Candidates, IntervalIndex, candidates_of
from cepctl.engines.columns.masses import Masses, masses_of, ticks_between
from cepctl.engines.columns.predicates import fitting_events, links_hold
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.confidence.chain.closed_form import chain_confidence
from cepctl.engines.confidence.coupled import assembly
from cepctl.engines.event import union
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.union import united
from cepctl.engines.pattern import rivals, shapes
from cepctl.engines.pattern.blocks import AbsenceRule, RegionEnd, Rivals, Shape
from cepctl.engines.pattern.difference_constraints import closed_system, valid_bounds
from cepctl.engines.pattern.rivals import rivals_of, some_event
from cepctl.engines.pattern.shapes import shape_of
from cepctl.engines.search.kleene.growth import _Expansion
from cepctl.engines.search.search import reach
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.plan.evaluation_order import OrderName
from cepctl.plan.plan import Alternative, Component, Link, Plan
from tests.engines.agreement import assert_same_rows, check
from tests.engines.test_engines_agree import event_engine_agrees
from tests.engines.test_invariances import PROPERTIES, named
from tests.plans import plan_of
from tests.strategies import LEVELS, Case, chain_cases

TESTS = Path(__file__).resolve().parents[1]
ORDERS = "orders of evaluation"
EXAMPLES = 600
SEEDS = {
    "a window is a tick wider: chains": 16,
    "a window also bounds below: a_wider_window_loses_no_signature": 9,
    "a histogram is uniform: chains": 3,
    "links are not asked: chains": 8,
    "links do not decide rivals: next match": 10,
    "a trailing negation looks a tick too far: negation": 34,
    "a signature is returned per alternative: OR of whole patterns": 5,
    "a negated component fits any type: an_irrelevant_event_changes_nothing": 4,
    "ties of a set count twice: AND": 11,
    "the members of a set lie anywhere: AND": 6,
    "the last alternative of OR speaks for all: OR of whole patterns under next match and contiguity": 4,
}
"""Under these a fault that few cases show is among the first dozen that are drawn."""


# --- the faults: each calls what it stands in place of, and spoils one thing -----------------


def _wider_window(
    masses: Masses, matches: Indexes, lower: Ticks, upper: Ticks, window: int | None, *rest: Any
) -> Reals:
    return chain_confidence(masses, matches, lower, upper, window and window + 1, *rest)


def _short_cells(masses: Masses, matches: Indexes, *rest: Any) -> Reals:
    return chain_confidence(replace(masses, hi=np.maximum(masses.hi - 1, masses.lo)), matches, *rest)


def _without_order(block_of: Sequence[int], window: int | None, *rest: Any) -> Ticks:
    return closed_system([0] * len(block_of), window, *rest)


def _ends_early(lower: Ticks, upper: Ticks, system: Ticks) -> tuple[Ticks, Ticks]:
    first, last = valid_bounds(lower, upper, system)
    return first, np.where(last > first, last - 1, last)


def _uniform(events: pa.Table) -> Masses:
    found = masses_of(events)
    density = 1.0 / ticks_between(found.lower, found.upper)
    return Masses(
        found.lower, found.upper, np.arange(len(found.lower) + 1), found.lower, found.upper, density
    )


def _first_bucket(events: pa.Table) -> Masses:
    found = masses_of(events)
    lo, hi = found.lo[found.starts[:-1]], found.hi[found.starts[:-1]]
    return Masses(lo, hi, np.arange(len(lo) + 1), lo, hi, 1.0 / ticks_between(lo, hi))


def _no_touching(index: IntervalIndex, key: Indexes, first: Ticks, last: Ticks) -> Candidates:
    return candidates_of(index, key, first, last - 1)


def _links_unasked(
    events: Events, alternative: Alternative, links: Sequence[Link], bound: dict[int, Indexes]
) -> Flags | None:
    held = links_hold(events, alternative, links, bound)
    return None if held is None else np.ones(len(held), dtype=bool)


def _tied_rivals(block: int) -> RegionEnd:
    return replace(_before(block), constant=0)


_before, _negation, _contiguity, _next_match = (
    shapes.before_block, shapes._negation, shapes._contiguity, shapes._next_match,
)  # fmt: skip
_passed_over = shapes._passed_over
_window_end, _inside, _links_of_rivals, _union = (
    shapes._window_end, assembly._inside, rivals.rivals_fit, union._union,
)  # fmt: skip
_grown, _sequences = _Expansion._grown, _Expansion._sequences


def _any_rival(*arguments: Any) -> Flags:
    return np.ones(len(_links_of_rivals(*arguments)), dtype=bool)


def _one_rival_less(*arguments: Any, **named: Any) -> list[Rivals]:
    return [Rivals(each.rule, each.row[1:], each.event[1:]) for each in rivals_of(*arguments, **named)]


def _kept(each: Rivals, keep: Flags) -> Rivals:
    return Rivals(each.rule, each.row[keep], each.event[keep])


def _rivals_by_id(
    own: Shape,
    events: Events,
    candidates: Any,
    keys: Any,
    bound: dict[int, Bindings],
    *rest: Any,
    **named: Any,
) -> list[Rivals]:
    found = rivals_of(own, events, candidates, keys, bound, *rest, **named)
    rank = events.id_rank
    return [_kept(each, rank[each.event] < rank[some_event(bound)[each.row]]) for each in found]


def _without_the_last(table: pa.Table) -> pa.Table:
    return _in_order(table.slice(0, max(table.num_rows - 1, 0)))


def _late_end(own: Shape) -> list[RegionEnd]:
    return [replace(end, constant=end.constant + 1) for end in _window_end(own)]


def _last_gap_unseen(own: Shape) -> list[AbsenceRule]:
    rules = [replace(rule, regions=rule.regions[:-1]) for rule in _contiguity(own)]
    return [rule for rule in rules if rule.regions]


def _ties_twice(own: Shape, assignment: Any, number: int, _early: bool, _late: bool) -> list[Any]:
    return _inside(own, assignment, number, False, False)


def _nothing(*_: Any) -> Iterator[Any]:
    return iter(())


def _never(*_: Any) -> None:
    return None


def _no_rules(_: Shape) -> list[AbsenceRule]:
    return []


def _chosen(found: Iterator[tuple[Indexes, Group]], wanted: Callable[[Group], Flags]) -> Iterator[Any]:
    for row, group in found:
        keep = np.flatnonzero(wanted(group))
        if len(keep):
            yield row[keep], group.take(keep)


def _one_member(self: _Expansion, *arguments: Any) -> Iterator[Any]:
    return _chosen(_grown(self, *arguments), lambda group: group.sizes == 1)


def _in_order_of_ids(self: _Expansion, *arguments: Any) -> Iterator[Any]:
    def ascending(group: Group) -> Flags:
        rank = self.events.id_rank[group.members]
        falls = (rank[1:] < rank[:-1]) & (group.owner[1:] == group.owner[:-1])
        return np.asarray(np.bincount(group.owner[1:][falls], minlength=len(group.sizes)) == 0)

    return _chosen(_sequences(self, *arguments), ascending)


def _members_spared(own: Shape) -> list[AbsenceRule]:
    return [replace(rule, members_too=False) for rule in _next_match(own)]


def _per_alternative(prepared: Sequence[Any], found: Sequence[Sequence[MatchBatch]]) -> Iterator[Any]:
    for source, batches in zip(prepared, found, strict=True):
        yield from ((source, batch) for batch in batches)


def _last_speaks(_: Any, parts: list[MatchBatch]) -> MatchBatch:
    return parts[-1]


def _without_timings(plan: Plan, alternative: Alternative) -> Shape:
    return replace(shape_of(plan, alternative), timings=())


def _short_backwards(
    masses: Masses, system: Ticks, rows: Indexes, before: tuple[int, ...], column: int
) -> tuple[Ticks, Ticks]:
    first, last = reach(masses, system, rows, before, column)
    return first, last - 1 if any(other > column for other in before) else last


def _early_end_of_time(ticks: Ticks, amount: int) -> Ticks:
    return np.minimum(shifted(ticks, amount), 1_000_000)


def _any_type_absent(events: Events, component: Component) -> Indexes:
    return fitting_events(events, replace(component, event_types=()) if component.negated else component)


def _window_below(
    block_of: Sequence[int], window: int | None, edges: Sequence[tuple[int, int, int]] = ()
) -> Ticks:
    below = [] if window is None or len(block_of) < 2 else [(0, len(block_of) - 1, -(window // 2))]
    return closed_system(block_of, window, [*edges, *below])


@dataclass(frozen=True)
class Mutant:
    """A fault of the event engine, and the properties that must find it."""

    fault: str
    original: Callable[..., Any]
    replacement: Callable[..., Any]
    found_by: tuple[str, ...]


MUTANTS = [
    Mutant("a window is a tick wider", chain_confidence, _wider_window, ("chains",)),
    Mutant("SEQ is without order", closed_system, _without_order, ("chains",)),
    Mutant("valid intervals end a tick early", valid_bounds, _ends_early, ("chains", "AND", "everything")),
    Mutant("a cell of a chain is a tick too short", chain_confidence, _short_cells, ("chains",)),
    Mutant("a histogram is uniform", masses_of, _uniform, ("chains",)),
    Mutant("events that only touch are not joined", candidates_of, _no_touching, ("negation",)),
    Mutant("links are not asked", links_hold, _links_unasked, ("chains",)),
    Mutant("ties are rivals", _before, _tied_rivals, ("next match", "contiguity", "negation")),
    Mutant("links do not decide rivals", _links_of_rivals, _any_rival, ("next match",)),
    Mutant(
        "one rival is forgotten",
        rivals_of,
        _one_rival_less,
        (
            "negation",
            "negation under next match and contiguity",
            "runs",
            "sets that are read under next match",
        ),
    ),
    Mutant("a trailing negation looks a tick too far", _window_end, _late_end, ("negation",)),
    Mutant(
        "the last gap is not looked at",
        _contiguity,
        _last_gap_unseen,
        (
            "contiguity",
            "Kleene under contiguity",
            "sequences under contiguity",
            "quantified Kleene groups under contiguity",
        ),
    ),
    Mutant("ties of a set count twice", _inside, _ties_twice, ("AND", "Kleene sets")),
    Mutant(
        "the members of a set lie anywhere",
        assembly._members,
        _nothing,
        ("AND", "Kleene sets", "quantified Kleene groups"),
    ),
    Mutant("a group has one member", _grown, _one_member, ("Kleene sets",)),
    Mutant("a sequence is in the order of the ids", _sequences, _in_order_of_ids, ("Kleene sequences",)),
    Mutant(
        "members of the preceding group are not rivals",
        _next_match,
        _members_spared,
        ("Kleene under next match",),
    ),
    Mutant(
        "what is passed over may have been there",
        _passed_over,
        _never,
        ("Kleene sets that may be absent under next match",),
    ),
    Mutant(
        "a signature is returned per alternative",
        united,
        _per_alternative,
        (
            "OR",
            "OR of whole patterns",
            "OR under next match and contiguity",
            "OR of one event alone and in a Kleene group",
            "OR of one event alone and in a Kleene group under next match and contiguity",
        ),
    ),
    Mutant(
        "the last alternative of OR speaks for all",
        _union,
        _last_speaks,
        ("OR of whole patterns under next match and contiguity",),
    ),
    Mutant(
        "timings select no worlds",
        shape_of,
        _without_timings,
        (
            "timing",
            "timing under next match and contiguity",
            "timing of groups",
            "timing of groups under next match and contiguity",
        ),
    ),
    Mutant("joining backwards misses the last tick", reach, _short_backwards, (ORDERS,)),
    Mutant("ticks saturate early", shifted, _early_end_of_time, ("shifting_time_shifts_ranges",)),
    Mutant(
        "a rival with a later id does not count",
        rivals_of,
        _rivals_by_id,
        ("renaming_events_renames_matches",),
    ),
    Mutant(
        "the last event of the input is lost",
        _in_order,
        _without_the_last,
        ("input_order_does_not_matter",),
    ),
    Mutant(
        "a mass is its first bucket",
        masses_of,
        _first_bucket,
        ("splitting_a_mass_into_equal_buckets_changes_nothing",),
    ),
    Mutant(
        "a negated component fits any type",
        fitting_events,
        _any_type_absent,
        ("an_irrelevant_event_changes_nothing",),
    ),
    Mutant(
        "a window also bounds below", closed_system, _window_below, ("a_wider_window_loses_no_signature",)
    ),
    Mutant(
        "next match is any match",
        _next_match,
        _no_rules,
        ("next_matches_of_one_start_exclude_each_other",),
    ),
]


# --- what has to find them -------------------------------------------------------------------


def every_order_gives_the_same_rows(case: Case) -> None:
    plan = plan_of(case.query)
    orders: tuple[OrderName, ...] = ("sort", "any-state", "selectivity")
    counts = Counter(event.event_type for event in case.events)
    wanted, *others = (match_events(plan, case.table, MatchOptions(order, counts)) for order in orders)
    for found in others:
        assert_same_rows(wanted, found)


def run_property(name: str, seed: int | None = None) -> None:
    """One property of the suite on the event engine as it is now."""
    if name in LEVELS:
        check(LEVELS[name], event_engine_agrees, EXAMPLES, shrink=False, seed=seed)
    elif name == ORDERS:
        check(chain_cases(), every_order_gives_the_same_rows, EXAMPLES, shrink=False)
    else:
        each = next(each for each in PROPERTIES if named(each) == name)
        check(each.cases, lambda case: each.holds(match_events, case), EXAMPLES, shrink=False, seed=seed)


def plant(patch: pytest.MonkeyPatch, mutant: Mutant) -> int:
    """Replace a function or method of the event engine wherever a module holds it; how often."""
    modules = [m for name, m in sys.modules.items() if name.startswith("cepctl.engines.")]
    places = [
        (m, name) for m in [*modules, _Expansion] for name, v in vars(m).items() if v is mutant.original
    ]
    for owner, name in places:
        patch.setattr(owner, name, mutant.replacement)
    return len(places)


PAIRS = [pytest.param(each, name, id=f"{each.fault}: {name}") for each in MUTANTS for name in each.found_by]


@pytest.mark.parametrize(("mutant", "name"), PAIRS)
def test_a_fault_of_the_event_engine_is_found(
    mutant: Mutant, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plant(monkeypatch, mutant) > 0
    with pytest.raises(AssertionError) as problem:
        run_property(name, SEEDS.get(f"{mutant.fault}: {name}"))
    # Found by the property, not by an engine that stumbled over its own fault.
    assert Path(problem.traceback[-1].path).is_relative_to(TESTS)


def test_every_property_finds_some_fault() -> None:
    found_by = {name for mutant in MUTANTS for name in mutant.found_by}
    assert found_by == {*LEVELS, ORDERS, *(named(each) for each in PROPERTIES)}


def test_the_table_above_names_every_fault() -> None:
    assert [
        line for line in (mutant.fault for mutant in MUTANTS) if f"    {line}  " not in (__doc__ or "")
    ] == []
