"""Why so little matched where one event is taken after the other: the stage is that which fails in worlds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice, pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines.columns.bindings import single_events
from cepctl.engines.columns.events import events_of
from cepctl.engines.diagnosis.complete_bindings import CompletionReport, RunReading, listed_runs, run_readings
from cepctl.engines.diagnosis.one_match import one_match
from cepctl.engines.diagnosis.why_not import AlternativeExplained, WhyNot, why_not
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from cepctl.engines.worlds.one_world import Bound, Stream, Ticks, Times, Work
from cepctl.engines.worlds.readings import Run
from cepctl.engines.worlds.readings import reading as meaning
from cepctl.engines.worlds.search import WorldSearch
from cepctl.errors import CepctlError, ContradictionError, UnsupportedQueryError
from cepctl.language.strategies import Absent
from cepctl.plan.passed_over import may_meet
from cepctl.plan.plan import Alternative, Plan
from cepctl.plan.support import require_engine
from tests.absent_together_cases import absent_together_cases
from tests.engines.agreement import EXAMPLES, FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.engines.clock_cases import ClockCase, clock_cases
from tests.engines.confidence.given.given_cases import with_given
from tests.plans import Event, event_table, plan_of
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT
from tests.strategies import (
    Case,
    quantified_cases,
    read_set_cases,
    repeated_cases,
    run_cases,
    running_cases,
)
from tests.worked_events import PAGE

RUNS = run_cases(NEXT) | run_cases(STRICT, PARTITION) | quantified_cases(NEXT) | repeated_cases(ANY, STRICT)
TOGETHER = quantified_cases() | absent_together_cases() | running_cases() | read_set_cases(NEXT)
NEXT_MATCH = "STRATEGY skip_till_next_match"


def asked(query: str, *events: Event) -> WhyNot:
    """The answer for a query on the events of the worked numbers, or on others."""
    return why_not(plan_of(f"PATTERN {query}"), event_table(events) if events else PAGE)


def completion_of(explained: AlternativeExplained) -> CompletionReport:
    assert explained.completion is not None
    return explained.completion


def losses(found: CompletionReport) -> dict[str, int]:
    """Who takes how many groups and matches away."""
    every = (*found.group_losses, *found.losses)
    return {each.condition.text: each.count for each in every if each.count}


def certain(text: str) -> list[Event]:
    """Events at ticks of their own; `b2` is a B with the value 2, the `at`-th of them e1, e2 and so on."""
    return [
        Event(f"e{at}", each[0].upper(), 2 * at, 2 * at, x=int(each[1:] or 0))
        for at, each in enumerate(text.split(), start=1)
    ]


# --- what is said --------------------------------------------------------------------------


def test_the_worked_runs_are_counted_as_a_set_is() -> None:
    (explained,) = asked(f"SEQ(A a, B+ b[], C c) WHERE b[i].x >= b[i-1].x {NEXT_MATCH}").alternatives
    found = completion_of(explained)
    assert (found.bindings, found.complete, found.possible) == (2, 14, 14)
    # b2 before b1, b2 before b3, and b3 after b1 and b2.
    assert losses(found) == {"b[i].x >= b[i-1].x": 3}


def test_the_event_that_a_run_would_have_taken_is_named() -> None:
    query = f"SEQ(A a, B+ b[], C c) WHERE b[i].x > b[i-1].x AND c.x = 9 {NEXT_MATCH}"
    why = asked(query.replace("c.x = 9", "c.x > 3"), *certain("a b1 b2 c4 c9"))
    found = completion_of(why.alternatives[0])
    assert (found.complete, found.possible) == (2, 1)
    takes = "skip_till_next_match, which takes the first c"
    assert losses(found) == {takes: 1}
    (breaker,) = found.breakers
    assert (why.text(((breaker.event,),)), why.text(breaker.example)) == ("e4", "e1 e2+e3 e5")


def test_what_may_be_absent_is_a_reading_with_it_and_one_without() -> None:
    why = asked(f"SEQ(A a, B? b, C c) WHERE b.x > 1 {NEXT_MATCH}")
    shown = [[each.negated for each in explained.alternative.components] for explained in why.alternatives]
    assert shown == [[False, False, False], [False, True, False]]
    assert [len(each.steps) for each in why.alternatives] == [3, 2]
    there, absent = (completion_of(each) for each in why.alternatives)
    assert (there.possible, absent.complete, absent.possible) == (2, 2, 1)
    # b2, which fits, lies between a1 and c2 in every world.
    assert losses(absent) == {"skip_till_next_match, which takes the first b": 1}


def test_a_stranger_breaks_a_chain() -> None:
    query = "SEQ(A a, B+ b[], C c) WHERE b[i].x > b[i-1].x STRATEGY strict_contiguity"
    why = asked(query, *certain("a b1 n b2 c"))
    found = completion_of(why.alternatives[0])
    assert (found.possible, losses(found)) == (0, {"strict_contiguity": found.complete})
    assert "e3" in {why.text(((each.event,),)) for each in found.breakers}


def test_repetitions_say_which_condition_stops_them() -> None:
    (explained,) = asked("SEQ(B b[], C c[])+ WHERE c[i].x > c[i-1].x AND count(b[]) > 1").alternatives
    found = completion_of(explained)
    # b1+c1 may be followed by b3+c2 or b2+c2, whose value is not greater; six single ones are too few.
    assert losses(found) == {"c[i].x > c[i-1].x": 2, "count(b[]) > 1": 6}
    assert (found.bindings, found.complete, found.possible) == (1, 0, 0)


def test_a_group_that_has_too_few_members_is_counted() -> None:
    (explained,) = asked(f"SEQ(A a, B{{3}} b[], C c) {NEXT_MATCH}", *certain("a b b c")).alternatives
    assert losses(completion_of(explained)) == {"count(b[]) >= 3": 1}


def test_what_fits_behind_a_group_is_not_taken_into_it() -> None:
    (explained,) = asked(f"SEQ(A a, B|C+ b[], C c) WHERE b[i].x >= b[i-1].x {NEXT_MATCH}").alternatives
    assert losses(completion_of(explained))["c, which takes what fits it, too,"] > 0


def test_times_of_first_and_last_members_are_asked_of_whole_groups() -> None:
    query = f"SEQ(A a, B+ b[], C c) WHERE b[i].x > 0 AND b[last].time - b[first].time > 9 ticks {NEXT_MATCH}"
    found = completion_of(asked(query).alternatives[0])
    (text,) = losses(found)
    assert text.startswith("timing constraints in WHERE")
    assert losses(found)[text] == found.complete > 0


def test_what_is_given_is_charged_by_its_clauses() -> None:
    given = "GIVEN SEQ(C p, B q) IF p.event_id = 'c1' AND q.event_id = 'b3'"
    query = f"SEQ(A a, B+ b[], C c) WHERE b[i].x >= b[i-1].x {NEXT_MATCH} {given}"
    found = completion_of(asked(query).alternatives[0])
    # b3 comes after c1: the groups that hold it and end with c1 have no world.
    assert losses(found)[given] > 0
    assert found.possible == match_events(plan_of(f"PATTERN {query}"), PAGE).num_rows


def test_the_likeliest_run_below_the_threshold_is_shown_as_rows_show_it() -> None:
    why = asked(f"SEQ(A a, B+ b[], C c) WHERE b[i].x >= b[i-1].x {NEXT_MATCH} CONFIDENCE >= 0.5")
    found = completion_of(why.alternatives[0])
    assert found.best is not None
    assert (found.below, why.text(found.best)) == (14, "a1 b2 c1")
    assert found.best_confidence == pytest.approx(38 / 81)


def test_beyond_the_limit_evenly_spaced_runs_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepctl.engines.diagnosis.complete_bindings.BINDINGS", 50)
    events = [Event(f"{kind}{at}", kind, at, at) for at in range(20) for kind in "BC"]
    (explained,) = asked("SEQ(B b[], C c[])+", *events).alternatives
    found = completion_of(explained)
    assert found.sampled
    assert 50 <= found.complete <= 100
    assert found.possible == found.complete


def test_a_condition_on_all_of_a_set_that_is_taking_is_told() -> None:
    (explained,) = asked(f"SEQ(A a, B+ b[], C c) WHERE c.x > avg(b[].x) + 5 {NEXT_MATCH}").alternatives
    found = completion_of(explained)
    (loss,) = found.group_losses
    assert (loss.condition.text, found.complete) == ("c.x > avg(b[].x) + 5", 0)


# --- beside the judge ----------------------------------------------------------------------


def answered(case: Case | ClockCase) -> tuple[Plan, WhyNot]:
    """A plan that the event engine runs, without its threshold, and the answer."""
    clocks = case.clocks if isinstance(case, ClockCase) else None
    try:
        plan = replace(plan_of(case.query, clocks), minimum_confidence=None)
        require_engine(plan, "event")
    except CepctlError:
        assume(condition=False)
    assume(plan.never is None)
    return plan, why_not(plan, case.table)


def possible_are_the_rows(case: Case | ClockCase) -> None:
    """As many can happen as the judge returns; where none can, what stops them has a name."""
    plan, why = answered(case)
    readings = iter(why.alternatives)
    for alternative in plan.alternatives:
        possible = 0
        for explained in islice(readings, len(list(run_readings(alternative)))):
            found = explained.completion
            possible += 0 if found is None else found.possible
            if found is None:
                left = [each.left for each in explained.fitting] + [each.left for each in explained.steps]
                assert not all(left)
            elif not found.possible:
                assert losses(found)
        alone = replace(plan, alternatives=(alternative,))
        rows = match_table(alone, case.table).num_rows
        # What several readings give can happen in each of them.
        assert possible == rows or (possible > rows and may_meet(alone))


def test_what_can_happen_is_what_the_judge_returns() -> None:
    check(RUNS, possible_are_the_rows)
    check(TOGETHER, possible_are_the_rows, FEW_EXAMPLES)


@pytest.mark.slow
def test_what_can_happen_is_what_the_judge_returns_in_many_cases() -> None:
    check(RUNS | TOGETHER, possible_are_the_rows, MANY_EXAMPLES)


def test_so_it_is_in_the_worlds_that_remain_and_on_clocks() -> None:
    def possible_or_contradicted(case: Case) -> None:
        with suppress(ContradictionError):
            possible_are_the_rows(case)

    check(with_given(RUNS), possible_or_contradicted, FEW_EXAMPLES)
    check(clock_cases(RUNS), possible_are_the_rows, FEW_EXAMPLES)


def test_each_row_with_what_may_be_absent_is_shown_with_its_confidence() -> None:
    def agrees(case: Case) -> None:
        plan, _ = answered(case)
        for row in match_events(plan, case.table).to_pylist():
            shown = one_match(plan, case.table, tuple(map(tuple, row["signature"])))
            assert not shown.reasons
            assert (shown.whole or shown).confidence == pytest.approx(row["confidence"], abs=1e-9)

    check(quantified_cases(NEXT), agrees, FEW_EXAMPLES)


def test_a_run_is_shown_with_its_confidence_if_nothing_were_given() -> None:
    def agrees(case: Case) -> None:
        plan, freely = plan_of(case.query), {}
        with suppress(ContradictionError, UnsupportedQueryError):
            rows = match_events(plan, case.table).to_pylist()
            for row in match_events(replace(plan, given=()), case.table).to_pylist() if rows else ():
                freely[tuple(map(tuple, row["signature"]))] = row["confidence"]
            for row in rows:
                signature = tuple(map(tuple, row["signature"]))
                shown = one_match(plan, case.table, signature)
                assert shown.given is not None
                assert shown.given.without == pytest.approx(freely[signature], abs=1e-9)

    check(with_given(staged_cases()), agrees, FEW_EXAMPLES)


def test_events_that_do_not_match_say_which_condition_they_fail() -> None:
    def has_a_reason(case: Case) -> None:
        plan, _ = answered(case)
        returned = {str(row["signature"]) for row in match_events(plan, case.table).to_pylist()}
        loose = re.sub(r" WHERE .*? (?=STRATEGY)|(?<=STRATEGY) \w+|(?<=WITHIN) \d+", _looser, case.query)
        for row in match_events(plan_of(loose), case.table).to_pylist()[:20]:
            shown = one_match(plan, case.table, tuple(map(tuple, row["signature"])))
            assert bool(shown.reasons) == (str(row["signature"]) not in returned)

    check(repeated_cases(ANY, STRICT), has_a_reason, FEW_EXAMPLES)


def _looser(found: re.Match[str]) -> str:
    return " " if "WHERE" in found[0] else " 50" if found[0].strip().isdigit() else " skip_till_any_match"


def test_a_match_that_passes_over_an_event_says_who_would_have_taken_it() -> None:
    plan = plan_of(f"PATTERN SEQ(A a, B? b, C c) WHERE b.x > 1 {NEXT_MATCH}")
    shown = one_match(plan, PAGE, (("a1",), ("c1",)))
    # b2 comes after c1 in one world of nine: c1 at 4, b2 at 4.
    assert shown.confidence == pytest.approx(1 / 9)
    assert [(each.event.event_id, each.condition.text) for each in shown.rivals] == [
        ("b2", "skip_till_next_match, which takes the first b"),
    ]
    broken = one_match(plan, PAGE, (("a1",), ("c2",)))
    assert [each.condition.text for each in broken.reasons] == [
        "skip_till_next_match, which takes the first b"
    ]


# --- stage by stage ------------------------------------------------------------------------


STAGED = (
    f"SEQ(A a, B+ b[], C c) WHERE b[i].x >= b[i-1].x {NEXT_MATCH}",
    f"SEQ(A a, B+ b[], C c) WHERE b[last].x <= c.x {NEXT_MATCH}",
    f"SEQ(A a, B? b, C c) WHERE b.x >= a.x {NEXT_MATCH}",
    f"SEQ(A a, B{{1,2}} b[], C? c, A d) {NEXT_MATCH}",
    f"SEQ(A a, B+ b[], !A n, C c) WHERE b[i].x >= b[i-1].x {NEXT_MATCH} WITHIN 6 ticks",
    f"SEQ(A a, RUNNING B{{1,3}} b[]) WHERE b[i].x >= a.x {NEXT_MATCH}",
    f"SEQ(A a, B+ b[]) WHERE b[i].x <> b[i-1].x {NEXT_MATCH} WITHIN 5 ticks",
    f"SEQ(A+ a[], C c) WHERE a[i].x >= a[i-1].x AND a[last].time - a[first].time <= 2 ticks {NEXT_MATCH}",
    "SEQ(A a, B+ b[], C c) WHERE b[i].x >= b[i-1].x STRATEGY strict_contiguity",
    "SEQ(A a, B+ b[], C c) WHERE [k] AND b[i].x >= b[i-1].x STRATEGY partition_contiguity",
    "SEQ(A a, SEQ(B b[], C c[])+) STRATEGY strict_contiguity",
    "SEQ(SEQ(B b[], C c[])+, !A n, B d) WHERE c[i].x >= c[i-1].x WITHIN 8 ticks",
)


@st.composite
def staged_cases(draw: st.DrawFn) -> Case:
    """Runs of which most are broken by some event, many of them in every world."""
    kinds = draw(st.permutations(["B", "B", "B", "C", "C", draw(st.sampled_from("ABCZ"))]))
    events = []
    for at, kind in enumerate(["A", *kinds]):
        lower, width = at + draw(st.integers(0, 1)), draw(st.sampled_from([1, 0, 2]))
        value = draw(st.sampled_from([1, 0, 2, None]))
        events.append(Event(f"e{at}", kind, lower, lower + width, x=value, k=draw(st.sampled_from("ppppq"))))
    return Case(f"PATTERN {draw(st.sampled_from(STAGED))}", tuple(events))


def worlds_of(search: WorldSearch) -> Iterator[Ticks]:
    """Every world of events without clocks."""
    spans = [
        [tick for lo, hi, p in _buckets(row) if p > 0 for tick in range(lo, hi + 1)]
        for row in search.stream.rows
    ]
    for ticks in product(*spans):
        yield Times.of([(tick, tick) for tick in ticks])


def _buckets(row: Mapping[str, Any]) -> list[tuple[int, int, float]]:
    if row["pmf"] is None:
        return [(row["lower"], row["upper"], 1.0)]
    return [(each["lo"], each["hi"], each["p"]) for each in row["pmf"]]


def passed_over(search: WorldSearch, ticks: Ticks, taken: list[tuple[int, int]]) -> set[int]:
    """The places of the pattern that would have taken an event which a run passes over, by its events."""
    order, found = search.alternative.positive, set[int]()
    bound: dict[int, tuple[int, ...]] = {}
    first, window = ticks[taken[0][1]], search.plan.window
    for at, (component, event) in enumerate(taken):
        bound[component] = (*bound.get(component, ()), event)
        before = {i: each for i, each in bound.items() if i != component}
        here = Run(search, ticks, order.index(component), bound[component], before, first, ticks[event])
        behind = taken[at + 1] if at + 1 < len(taken) else None
        if behind is None and here.is_running:
            continue
        for place in here.takers():
            further = behind is not None and place > order.index(behind[0])
            if behind is not None:
                end = ticks[behind[1]] + further
            else:
                end = max(ticks) + 1 if window is None else first + window
            others = (e for e in range(len(ticks)) if here.last < ticks[e] < end)
            own = {each for _, each in taken}
            if any(e not in own and here.fits(place, e) for e in others):
                found.add(place)
    return found


def broken_by(search: WorldSearch, ticks: Ticks, taken: list[tuple[int, int]], bound: Bound) -> set[str]:
    """The rules of absence that a world breaks, in the words of the answer."""
    plan, components, found = search.plan, search.alternative.components, set[str]()
    if plan.strategy.absent is Absent.NEARER:
        names = [
            components[search.alternative.positive[i]].variable for i in passed_over(search, ticks, taken)
        ]
        found |= {f"{plan.strategy.word}, {plan.strategy.rival.format(name)}" for name in names}
    elif not search._as_runs and plan.strategy.asks_all and not meaning(plan).holds(search, ticks, bound):
        found.add(plan.strategy.word)
    negated = [each.variable for each in components if each.negated]
    if not search._negations_hold(ticks, bound):
        found |= {f"no {name}" for name in negated}
    return found


def in_every_world(plan: Plan, reading: RunReading, case: Case) -> tuple[int, Counter[str]]:
    """How many runs there are, and how many of them each rule, and the times, leave no world."""
    events = events_of(case.table, plan.clocks)
    search = WorldSearch(plan, reading.of, Stream.of(case.table.to_pylist(), plan.partition_by), Work())
    number = {str(row["event_id"]): e for e, row in enumerate(search.stream.rows)}
    count, lost = 0, Counter[str]()
    for run, bound in listed_runs(plan, reading, events, np.zeros((0, 0), dtype=np.int64)).runs:
        for row in single_events(list(bound.values())):
            ids = [number[str(events.ids[int(e)])] for e in row]
            count, lost = count + 1, lost + _lost(search, list(zip(run.form_of.taken, ids, strict=True)))
    return count, lost


def _lost(search: WorldSearch, taken: list[tuple[int, int]]) -> Counter[str]:
    bound = {i: tuple(e for j, e in taken if j == i) for i, _ in taken}
    broken = [
        broken_by(search, ticks, taken, bound)
        for ticks in worlds_of(search)
        if all(ticks[one] < ticks[other] for (_, one), (_, other) in pairwise(taken))
        and search._window_holds(ticks, bound)
        and search._timings_hold(ticks, bound)
    ]
    if not broken:
        return Counter(["times"])
    return Counter(set.intersection(*broken))


def stages_are_those_of_the_worlds(case: Case) -> None:
    plan, why = answered(case)
    readings = [each for alternative in plan.alternatives for each in run_readings(alternative)]
    for reading, explained in zip(readings, why.alternatives, strict=True):
        if explained.completion is None or not _is_told(plan, reading.of):
            continue
        count, lost = in_every_world(plan, reading, case)
        charged = {
            "times" if each.condition.kind == "timing" else each.condition.text: each.count
            for each in explained.completion.losses
            if each.count and each.condition.text != "the absences together"
        }
        assert explained.completion.complete == count
        assert charged == lost


def _is_told(plan: Plan, reading: Alternative) -> bool:
    """Whether runs take one event after the other, and only one component is negated."""
    in_order = reading.in_runs(plan.strategy) and reading.takes_in_order
    return in_order and sum(each.negated for each in reading.components) <= 1


def test_the_stage_that_fails_is_the_one_that_fails_in_the_worlds() -> None:
    check(staged_cases(), stages_are_those_of_the_worlds, EXAMPLES)


@pytest.mark.slow
def test_the_stage_that_fails_is_the_one_that_fails_in_the_worlds_of_many_cases() -> None:
    check(RUNS | staged_cases(), stages_are_those_of_the_worlds, MANY_EXAMPLES)
