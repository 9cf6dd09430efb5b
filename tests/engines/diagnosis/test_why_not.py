"""Why so little matched: exact counts of what each condition takes away, and the nearest miss."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import strategies as st

from cepctl.engines.columns.events import events_of
from cepctl.engines.diagnosis.conditions import Condition, Conditions
from cepctl.engines.diagnosis.partial_matches import JoinIndexes, JoinReport, Loss, follow
from cepctl.engines.diagnosis.why_not import AlternativeExplained, Excluded, WhyNot, excluded_only_by, why_not
from cepctl.engines.event.match import match_events
from cepctl.errors import ContradictionError
from tests.engines.agreement import FEW_EXAMPLES, check
from tests.engines.confidence.given.given_cases import with_given
from tests.plans import Event, event_table, plan_of
from tests.strategies import Case, any_cases, chain_cases, negation_cases, next_match_cases
from tests.worked_events import PAGE

LOG = (
    Event("a1", "A", 0, 2, x=1, k="p"),
    Event("a2", "A", 30, 30, x=2, k="q"),
    Event("b1", "B", 4, 5, x=4, k="p"),
    Event("b2", "B", 14, 15, x=9, k="p"),
    Event("b3", "B", 31, 31, x=9, k="p"),
    Event("c1", "C", 17, 18, x=0, k="p"),
)


def explained_by(query: str, *events: Event, limit: int = 1 << 20) -> AlternativeExplained:
    """The only alternative of a query."""
    (explained,) = why_not(plan_of(query), event_table(events), limit=limit).alternatives
    return explained


def stopped(step: JoinReport) -> dict[str, int]:
    return {loss.condition.text: loss.count for loss in step.losses if loss.count}


def excluded(explained: AlternativeExplained) -> dict[str, Excluded]:
    return {each.condition.text: each for each in explained.excluded}


def nearest(why: WhyNot, condition: str) -> str:
    """The nearest miss of a condition, as the column `match` writes it."""
    (found,) = [each for each in why.alternatives[0].excluded if each.condition.text == condition]
    return why.text(tuple((event,) for event in found.nearest.events))


def test_events_are_counted_by_type_and_after_each_predicate() -> None:
    (a, b) = explained_by("PATTERN SEQ(A a, B b) WHERE b.x > 5 AND b.k = 'q'", *LOG).fitting
    assert (a.typed, a.losses, a.left) == (2, (), 2)
    assert (b.typed, b.left) == (3, 0)
    assert b.losses == (
        Loss(Condition("filter", "b.x > 5"), 1),
        Loss(Condition("filter", "b.k = 'q'"), 2),
    )


def test_each_pair_is_charged_to_the_first_condition_that_stops_it() -> None:
    explained = explained_by("PATTERN SEQ(A a, B b, C c) WHERE [k] AND b.x > a.x + 5 WITHIN 10 ticks", *LOG)
    first, second = explained.steps
    assert (first.pairs, first.left) == (2, 2)
    # Of six pairs three have a2, whose key is another; b2 and b3 begin too late; b1.x is too small.
    assert (second.pairs, second.left) == (6, 0)
    assert stopped(second) == {"[k]": 3, "WITHIN 10 ticks": 2, "b.x > a.x + 5": 1}


def test_an_event_bound_twice_is_told_apart() -> None:
    explained = explained_by("PATTERN AND(A a, A b)", *LOG)
    assert stopped(explained.steps[1]) == {"no event twice in a match": 2}


def test_the_nearest_miss_of_the_window_says_by_how_many_ticks() -> None:
    query = "PATTERN SEQ(A a, B b, C c) WHERE b.x > 5 WITHIN 10 ticks"
    why = why_not(plan_of(query), event_table(LOG))
    window = excluded(why.alternatives[0])["WITHIN 10 ticks"]
    # a1 b2 c1 takes from 2 to 17: 15 ticks, where 9 are allowed.
    assert (window.count, window.at_least, window.nearest.excess, window.nearest.in_ticks) == (
        1,
        False,
        6,
        True,
    )
    assert nearest(why, "WITHIN 10 ticks") == "a1 b2 c1"


def test_the_nearest_miss_of_a_comparison_has_the_value_nearest_to_its_bound() -> None:
    query = "PATTERN SEQ(A a, B b, C c) WHERE b.x > 10"
    why = why_not(plan_of(query), event_table(LOG))
    missed = excluded(why.alternatives[0])["b.x > 10"]
    assert (missed.count, missed.nearest.excess, missed.nearest.values) == (2, 1.0, (("b.x", 9),))
    assert nearest(why, "b.x > 10") == "a1 b2 c1"


def test_order_is_missed_by_the_ticks_that_an_event_would_have_to_be_later() -> None:
    explained = explained_by("PATTERN SEQ(C c, B b) WITHIN 10 ticks", *LOG)
    missed = excluded(explained)["c before b"]
    # b2 ends at 15 and would have to be at 18; b1 is too far from c1 for the window as well.
    assert (missed.count, missed.nearest.excess) == (1, 3)


def test_a_window_too_short_for_any_order_lets_nothing_through() -> None:
    """WITHIN 1 tick wants both on one tick, and the order wants two."""
    events = (Event("a", "A", 0, 2), Event("b", "B", 1, 2))
    explained = explained_by("PATTERN SEQ(A a, B b) WITHIN 1 ticks", *events)
    assert stopped(explained.steps[1]) == {"WITHIN 1 ticks": 1}
    missed = excluded(explained)["WITHIN 1 ticks"]
    assert (missed.count, missed.nearest.excess) == (1, 1)


def test_a_timing_constraint_is_a_condition_of_its_own() -> None:
    explained = explained_by("PATTERN SEQ(A a, B b) WHERE b.time - a.time <= 1 ticks AND a.k = 'p'", *LOG)
    missed = excluded(explained)["b.time - a.time <= 1 ticks"]
    assert (missed.count, missed.nearest.excess) == (3, 1)
    assert stopped(explained.steps[1]) == {"b.time - a.time <= 1 ticks": 3}


def test_a_key_and_a_link_are_dropped_alone() -> None:
    keyed = explained_by("PATTERN SEQ(A a, B b) WHERE [k] AND a.x = 2", *LOG)
    assert excluded(keyed)["[k]"].nearest.values == (("a.k", "q"), ("b.k", "p"))
    linked = explained_by("PATTERN SEQ(A a, B b) WHERE a.x = b.x", *LOG)
    assert stopped(linked.steps[1]) == {"a.x = b.x": 6}
    assert (excluded(linked)["a.x = b.x"].count, excluded(linked)["a.x = b.x"].nearest.excess) == (4, 3.0)


def test_where_two_conditions_are_in_the_way_the_part_up_to_the_gap_is_explained() -> None:
    explained = explained_by("PATTERN SEQ(A a, B b, C c) WHERE a.x = 7 AND c.x = 7", *LOG)
    assert explained.length == 1
    assert set(excluded(explained)) == {"a.x = 7"}


def test_the_rival_that_breaks_a_match_is_named() -> None:
    events = (*LOG, Event("n1", "N", 3, 3))
    why = why_not(plan_of("PATTERN SEQ(A a, !N n, C c) WITHIN 40 ticks"), event_table(events))
    completion = why.alternatives[0].completion
    assert completion is not None
    assert (completion.complete, completion.losses, completion.possible) == (
        1,
        (Loss(Condition("absence", "no n"), 1),),
        0,
    )
    (breaker,) = completion.breakers
    assert why.text(((breaker.event,),)) == "n1"
    assert (breaker.count, why.text(breaker.example)) == (1, "a1 c1")


@pytest.mark.parametrize("strategy", ["skip_till_next_match", "strict_contiguity"])
def test_strategies_name_their_rivals_too(strategy: str) -> None:
    why = why_not(plan_of(f"PATTERN SEQ(A a, B b) WHERE b.x > 8 STRATEGY {strategy}"), event_table(LOG))
    completion = why.alternatives[0].completion
    assert completion is not None
    lost = {"skip_till_next_match": {"b2"}, "strict_contiguity": {"b1", "b2", "c1", "a2"}}
    assert {why.text(((each.event,),)) for each in completion.breakers} <= lost[strategy]
    # a1 b3 is broken under both, a1 b2 only by b1, which is not a rival where it does not fit.
    assert completion.possible == {"skip_till_next_match": 2, "strict_contiguity": 1}[strategy]


def test_what_is_below_the_threshold_is_counted_with_the_likeliest() -> None:
    query = "PATTERN SEQ(A a, B b) WITHIN 4 ticks CONFIDENCE >= 0.9"
    events = (Event("a1", "A", 0, 2), Event("b1", "B", 4, 5))
    why = why_not(plan_of(query), event_table(events))
    completion = why.alternatives[0].completion
    assert completion is not None and completion.best is not None
    # (1, 4), (2, 4) and (2, 5) of six worlds stay below four ticks.
    assert (completion.possible, completion.below) == (1, 1)
    assert completion.best_confidence == pytest.approx(0.5)
    assert why.text(completion.best) == "a1 b1"


def test_predicates_over_groups_say_how_many_groups_they_reject() -> None:
    explained = explained_by("PATTERN SEQ(A a, B+ b[], C c) WHERE sum(b[].x) > 13", *LOG)
    completion = explained.completion
    assert completion is not None
    assert completion.group_losses == (Loss(Condition("group", "sum(b[].x) > 13"), 3),)
    assert (completion.bindings, completion.complete) == (1, 0)


def test_a_type_that_no_event_has_ends_everything() -> None:
    explained = explained_by("PATTERN SEQ(A a, Z z)", *LOG)
    assert [each.typed for each in explained.fitting] == [2, 0]
    assert (explained.steps[-1].pairs, explained.excluded, explained.completion) == (0, (), None)


def test_beyond_the_limit_evenly_spaced_partial_matches_are_followed_and_this_is_said() -> None:
    events = [Event(f"a{i}", "A", i, i) for i in range(40)] + [Event(f"b{i}", "B", 50, 50) for i in range(5)]
    everything = explained_by("PATTERN SEQ(A a, B b) WITHIN 5 ticks", *events)
    assert not everything.sampled
    assert excluded(everything)["WITHIN 5 ticks"].count == 200
    some = explained_by("PATTERN SEQ(A a, B b) WITHIN 5 ticks", *events, limit=50)
    window = excluded(some)["WITHIN 5 ticks"]
    assert window.at_least
    assert window.count < 200
    # Near misses are looked for from the bound on: a39 b is eleven ticks long, seven too many.
    assert window.nearest.excess == 7


def bindings_followed(case: Case) -> None:
    """Every match is among the rows that pass all steps; without absences the rows are the matches."""
    plan, events = plan_of(case.query), events_of(case.table)
    matches = match_events(plan, case.table)
    found = set()
    for alternative in plan.alternatives:
        followed = follow(Conditions.of(plan, alternative, events), JoinIndexes(events))
        if len(followed.steps) == len(alternative.positive):
            found |= {tuple(events.ids[int(e)] for e in row) for row in followed.rows}
    signatures = {tuple(part[0] for part in row) for row in matches.column("signature").to_pylist()}
    assert signatures <= found


def test_no_match_is_lost_on_the_way() -> None:
    check(st.one_of(chain_cases(), negation_cases(), next_match_cases()), bindings_followed, FEW_EXAMPLES)


def possible_are_the_matches(case: Case) -> None:
    plan = replace(plan_of(case.query), minimum_confidence=None)
    (explained,) = why_not(plan, case.table).alternatives
    possible = 0 if explained.completion is None else explained.completion.possible
    assert possible == match_events(plan, case.table).num_rows


def test_what_can_happen_in_the_end_is_what_matches() -> None:
    check(
        st.one_of(chain_cases(), negation_cases(), next_match_cases()), possible_are_the_matches, FEW_EXAMPLES
    )


def possible_of_given_are_the_matches(case: Case) -> None:
    with suppress(ContradictionError):
        possible_are_the_matches(case)


def test_what_can_happen_in_the_worlds_that_remain_is_what_matches() -> None:
    check(
        with_given(st.one_of(chain_cases(), negation_cases(), next_match_cases())),
        possible_of_given_are_the_matches,
        FEW_EXAMPLES,
    )


def test_bindings_that_no_remaining_world_has_are_charged_to_the_clauses_that_leave_none() -> None:
    starts, last = "GIVEN SEQ(A a, B b) IF a.k = b.k", "GIVEN SEQ(A a, C c) IF a.k = c.k"
    events = (
        Event("a", "A", 1, 9, k="p"), Event("b", "B", 1, 9, k="p"), Event("c", "C", 5, 5, k="p"),
        Event("d", "D", 6, 6),
    )  # fmt: skip
    (explained,) = why_not(
        plan_of(f"PATTERN SEQ(D d, A a) {starts} {last}"), event_table(events)
    ).alternatives
    assert explained.completion is not None
    assert [(each.condition.text, each.count) for each in explained.completion.losses] == [
        (starts, 0),
        (last, 1),
        ("the clauses of GIVEN together", 0),
    ]
    # b is before a and a before b: the first clause, whatever the second says.
    (explained,) = why_not(
        plan_of(f"PATTERN SEQ(B b, A a) {starts} {last}"), event_table(events)
    ).alternatives
    assert explained.completion is not None
    assert [each.count for each in explained.completion.losses] == [1, 0, 0]


def test_what_is_given_is_charged_before_rivals_are() -> None:
    """b3 after c1 in every world that remains: the order of time fails, whoever lies between."""
    given = "GIVEN SEQ(C p, B q) IF p.event_id = 'c1' AND q.event_id = 'b3'"
    plan = plan_of(f"PATTERN SEQ(A a, B b, C c) STRATEGY skip_till_next_match {given}")
    completion = why_not(plan, PAGE).alternatives[0].completion
    assert completion is not None
    takes = "skip_till_next_match, which takes the first"
    lost = {each.condition.text: each.count for each in completion.losses if each.count}
    assert lost == {given: 1, f"{takes} b": 1, f"{takes} c": 1}
    assert (completion.complete, completion.possible) == (6, 3)


def excluded_do_not_match(case: Case) -> None:
    """What one condition rules out is none of the bindings that pass all of them."""
    plan, events = plan_of(case.query), events_of(case.table)
    for alternative in plan.alternatives:
        conditions, indexes = Conditions.of(plan, alternative, events), JoinIndexes(events)
        passing = {tuple(row) for row in follow(conditions, indexes).rows.tolist()}
        for each in excluded_only_by(conditions, indexes, len(conditions.columns)):
            assert each.nearest.events not in passing
            assert each.count > 0


def test_what_a_condition_rules_out_is_not_a_binding() -> None:
    check(any_cases(), excluded_do_not_match, FEW_EXAMPLES)
