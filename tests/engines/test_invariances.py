"""What must not change the answer, or change it in one direction only; each kept honest by a mutant.

A mutant is the judge with a fault that its property, and no other test of rows, is there to find.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.point.engine import match_table as match_points
from cepctl.engines.worlds.engine import match_table
from cepctl.language.strategies import SKIP_TILL_ANY_MATCH, STRICT_CONTIGUITY
from cepctl.plan.choices import Engine as EngineName
from cepctl.plan.plan import Plan
from cepctl.plan.support import engine_refusals
from tests.engines.agreement import EXAMPLES, FEW_EXAMPLES, Engine, assert_same_rows, check, rows_by_signature
from tests.plans import Event, event_table, plan_of
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT, Level
from tests.strategies import (
    Case,
    cases,
    next_match_cases,
)

EVERY_STRATEGY = (ANY, NEXT, STRICT, PARTITION)


def run(engine: Engine, query: str, events: tuple[Event, ...]) -> pa.Table:
    return engine(plan_of(query), event_table(events))


# --- the properties ------------------------------------------------------------------------


def shifting_time_shifts_ranges(engine: Engine, case: Case) -> None:
    later = 1_000_003
    moved = tuple(
        replace(
            event,
            lower=event.lower + later,
            upper=event.upper + later,
            pmf=event.pmf and tuple((lo + later, hi + later, p) for lo, hi, p in event.pmf),
        )
        for event in case.events
    )
    query = case.query.split(" RETURN")[0]  # which may ask for the ticks themselves
    expected = run(engine, query, case.events)
    for name in ("start", "end"):
        column = expected.column_names.index(name)
        expected = expected.set_column(column, name, pc.add(expected[name], later))
    assert_same_rows(expected, run(engine, query, moved))


def renaming_events_renames_matches(engine: Engine, case: Case) -> None:
    new_names = {event.event_id: f"z{9 - n}" for n, event in enumerate(case.events)}
    renamed = tuple(replace(event, event_id=new_names[event.event_id]) for event in case.events)
    expected = rows_by_signature(run(engine, case.query, case.events))
    actual = rows_by_signature(run(engine, case.query, renamed))
    assert {
        tuple((new_names[i],) for (i,) in signature): (row["start"], row["end"], round(row["confidence"], 9))
        for signature, row in expected.items()
    } == {s: (row["start"], row["end"], round(row["confidence"], 9)) for s, row in actual.items()}


def input_order_does_not_matter(engine: Engine, case: Case) -> None:
    shuffled = random.Random(0).sample(case.events, len(case.events))
    assert_same_rows(run(engine, case.query, case.events), run(engine, case.query, tuple(shuffled)))


def splitting_a_mass_into_equal_buckets_changes_nothing(engine: Engine, case: Case) -> None:
    split = tuple(
        replace(event, pmf=tuple((t, t, 1 / (event.upper - event.lower + 1)) for t in _ticks(event)))
        if event.pmf is None
        else event
        for event in case.events
    )
    assert_same_rows(run(engine, case.query, case.events), run(engine, case.query, split))


def _ticks(event: Event) -> range:
    return range(event.lower, event.upper + 1)


def an_irrelevant_event_changes_nothing(engine: Engine, case: Case) -> None:
    """Of a type that the pattern does not name, and under contiguity outside every partition."""
    stranger = Event("e00", "Y", 0, 9, x=1)
    if "* " not in case.query and "*+ " not in case.query:
        assert_same_rows(
            run(engine, case.query, case.events), run(engine, case.query, (*case.events, stranger))
        )


def a_wider_window_loses_no_signature(engine: Engine, case: Case) -> None:
    plan = plan_of(case.query)
    if plan.window is None:
        return
    narrow = rows_by_signature(engine(plan, case.table))
    wide = rows_by_signature(engine(replace(plan, window=plan.window + 2), case.table))
    assert set(narrow) <= set(wide)
    for signature, row in narrow.items():
        assert wide[signature]["confidence"] >= row["confidence"] - 1e-9
        assert wide[signature]["start"] <= row["start"] <= row["end"] <= wide[signature]["end"]


def next_matches_of_one_start_exclude_each_other(engine: Engine, case: Case) -> None:
    """Where no two events can share a tick, an event starts at most one match in a world."""
    apart = tuple(_apart(event, n, len(case.events)) for n, event in enumerate(case.events))
    query = case.query.split(" WITHIN")[0]
    totals: dict[str, float] = defaultdict(float)
    for signature, row in rows_by_signature(run(engine, query, apart)).items():
        totals[signature[0][0]] += row["confidence"]
    assert all(total <= 1 + 1e-9 for total in totals.values()), totals


def _apart(event: Event, number: int, count: int) -> Event:
    """The event on ticks that are `number` modulo `count`, uniform, in the same places roughly."""
    ticks = [t * count + number for t in _ticks(event)]
    pmf = tuple((t, t, 1 / len(ticks)) for t in ticks)
    return replace(event, lower=ticks[0], upper=ticks[-1], pmf=pmf)


# --- mutants: the judge with one fault each ------------------------------------------------


def _deaf_to_late_events(plan: Plan, events: pa.Table) -> pa.Table:
    return match_table(plan, events.filter(pc.less(events["lower"], 1_000)))


def _ranks_by_id(plan: Plan, events: pa.Table) -> pa.Table:
    matches = match_table(plan, events)
    by_id = [row["signature"][0] <= row["signature"][-1] for row in matches.to_pylist()]
    return matches.filter(pa.array(by_id, pa.bool_()))


def _drops_the_last_row(plan: Plan, events: pa.Table) -> pa.Table:
    return match_table(plan, events.slice(0, events.num_rows - 1))


def _reads_the_first_bucket(plan: Plan, events: pa.Table) -> pa.Table:
    masses = [mass and mass[:1] for mass in events["pmf"].to_pylist()]
    column = events.column_names.index("pmf")
    return match_table(
        plan, events.set_column(column, "pmf", pa.array(masses, events.schema.field("pmf").type))
    )


def _always_contiguous(plan: Plan, events: pa.Table) -> pa.Table:
    return match_table(replace(plan, strategy=STRICT_CONTIGUITY), events)


def _window_also_bounds_below(plan: Plan, events: pa.Table) -> pa.Table:
    matches = match_table(plan, events)
    return matches.filter(
        pc.greater_equal(pc.subtract(matches["end"], matches["start"]), (plan.window or 0) // 2)
    )


def _any_match(plan: Plan, events: pa.Table) -> pa.Table:
    return match_table(replace(plan, strategy=SKIP_TILL_ANY_MATCH), events)


# --- what is tested on what ----------------------------------------------------------------

SINGLES = cases(Level(strategies=EVERY_STRATEGY, negation=True, choice=True))
WITH_GROUPS = cases(Level(groups=True, negation=True)) | cases(
    Level(strategies=EVERY_STRATEGY, negation=True, kleene=True)
)
ELSEWHERE = cases(Level(strategies=(ANY, NEXT, PARTITION), negation=True, kleene=True))
WIDENED = cases(Level()) | cases(Level(groups=True)) | cases(Level(kleene=True))


@dataclass(frozen=True)
class Property:
    """A property, the cases it speaks of, and the mutant that it must find."""

    holds: Callable[[Engine, Case], None]
    cases: st.SearchStrategy[Case]
    mutant: Engine


PROPERTIES = [
    Property(shifting_time_shifts_ranges, SINGLES | WITH_GROUPS, _deaf_to_late_events),
    Property(renaming_events_renames_matches, SINGLES, _ranks_by_id),
    Property(input_order_does_not_matter, SINGLES | WITH_GROUPS, _drops_the_last_row),
    Property(
        splitting_a_mass_into_equal_buckets_changes_nothing, SINGLES | WITH_GROUPS, _reads_the_first_bucket
    ),
    Property(an_irrelevant_event_changes_nothing, ELSEWHERE, _always_contiguous),
    Property(a_wider_window_loses_no_signature, WIDENED, _window_also_bounds_below),
    Property(next_matches_of_one_start_exclude_each_other, next_match_cases(), _any_match),
]


def named(value: Any) -> str | None:
    return value.holds.__name__ if isinstance(value, Property) else None


ENGINES: dict[EngineName, Engine] = {"worlds": match_table, "event": match_events, "point": match_points}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("each", PROPERTIES, ids=named)
def test_invariance(engine: EngineName, each: Property) -> None:
    def holds(case: Case) -> None:
        assume(not engine_refusals(plan_of(case.query), engine))
        each.holds(ENGINES[engine], case)

    # The other engines are held to what the judge says anyway; it takes its time.
    check(each.cases, holds, EXAMPLES if engine == "event" else FEW_EXAMPLES)


@pytest.mark.parametrize("each", PROPERTIES, ids=named)
def test_each_property_finds_its_mutant(each: Property) -> None:
    with pytest.raises(AssertionError):
        check(each.cases, lambda case: each.holds(each.mutant, case), 500, shrink=False)
