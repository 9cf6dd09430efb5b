"""The judge, against the worked examples of the semantics and worlds counted by hand, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest

from cepctl.engines.worlds.engine import enumerate_worlds, exact_matches, match_table
from cepctl.errors import EventSchemaError, QueryTooLargeError
from tests.engines.agreement import FEW_EXAMPLES, check
from tests.plans import Event, event_table, histogram, plan_of
from tests.strategies import Case, any_cases

Found = dict[str, tuple[int, int, Fraction]]


def found(query: str, *events: Event) -> Found:
    """The matches: signature as text -> start, end, confidence."""
    matches = exact_matches(plan_of(query), event_table(events))
    return {
        " ".join("+".join(ids) for ids in signature): (match.start, match.end, match.confidence)
        for signature, match in matches.items()
    }


def confidences(query: str, *events: Event) -> dict[str, Fraction]:
    return {signature: confidence for signature, (_, _, confidence) in found(query, *events).items()}


def certain(text: str, **attributes: Mapping[str, object]) -> list[Event]:
    """Events at one tick each, from `a1@3 b2@5`: the type is the letter of the id in upper case."""
    events = []
    for word in text.split():
        event_id, tick = word.split("@")
        values = attributes.get(event_id, {})
        events.append(Event(event_id, event_id[0].upper(), int(tick), int(tick), **values))  # type: ignore[arg-type]
    return events


def signatures(query: str, text: str, **attributes: Mapping[str, object]) -> set[str]:
    """Matches of certain events; each must have confidence 1."""
    result = confidences(query, *certain(text, **attributes))
    assert set(result.values()) <= {1}
    return set(result)


FIGURE_1 = (Event("a1", "A", 1, 5), Event("c2", "C", 3, 5), Event("b3", "B", 3, 5), Event("c4", "C", 4, 8))


# --- worked examples of semantics.md -------------------------------------------------------


def test_figure_1_of_zdi10_under_any_match() -> None:
    assert found("PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks", *FIGURE_1) == {
        "a1 b3 c2": (1, 5, Fraction(25, 225)),
        "a1 b3 c4": (1, 7, Fraction(27, 225)),
    }


def test_figure_1_of_zdi10_under_next_match() -> None:
    query = "PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks STRATEGY skip_till_next_match"
    assert found(query, *FIGURE_1) == {
        "a1 b3 c2": (1, 5, Fraction(24, 225)),
        "a1 b3 c4": (1, 7, Fraction(25, 225)),
    }


def test_the_window_tightens_both_ends_of_the_range() -> None:
    events = Event("e1", "A", 1, 10), Event("e2", "B", 8, 9)
    assert found("PATTERN SEQ(A a, B b) WITHIN 3 ticks", *events)["e1 e2"][:2] == (6, 9)


def test_rivals_tighten_the_range() -> None:
    events = Event("a", "A", 1, 5), *certain("b1@3 b2@7")
    assert found("PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match", *events) == {
        "a b1": (1, 3, Fraction(2, 5)),
        "a b2": (3, 7, Fraction(3, 5)),
    }


def test_and_binds_two_components_of_one_type_both_ways() -> None:
    assert signatures("PATTERN AND(A a, A b)", "a1@1 a2@2") == {"a1 a2", "a2 a1"}


# --- events and worlds ---------------------------------------------------------------------


def test_a_histogram_is_renormalised_and_its_holes_hold_no_world() -> None:
    event = histogram("a", "A", (1, 2, 0.25), (5, 5, 0.25))
    result = found("PATTERN A a WHERE a.time <= '1970-01-01T00:00:00.001Z'", event)
    assert result == {"a": (1, 1, Fraction(1, 4))}
    later = found("PATTERN A a WHERE a.time >= '1970-01-01T00:00:00.003Z'", event)
    assert later == {"a": (5, 5, Fraction(1, 2))}


def test_a_bucket_of_mass_0_holds_no_world() -> None:
    assert found("PATTERN A a", histogram("a", "A", (1, 1, 1.0), (2, 9, 0.0))) == {"a": (1, 1, Fraction(1))}


def test_a_signature_of_probability_0_is_not_returned() -> None:
    assert found("PATTERN SEQ(A a, B b)", *certain("a1@2 b1@2")) == {}


def test_confidence_keeps_what_reaches_the_threshold() -> None:
    query = "PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks CONFIDENCE >= 0.12"
    assert set(found(query, *FIGURE_1)) == {"a1 b3 c4"}


# --- SEQ, AND, OR, WITHIN ------------------------------------------------------------------


def test_seq_is_strict() -> None:
    assert confidences("PATTERN SEQ(A a, B b)", Event("a", "A", 1, 2), Event("b", "B", 1, 2)) == {
        "a b": Fraction(1, 4)
    }


def test_and_allows_equal_ticks_and_lies_strictly_between_its_neighbours() -> None:
    events = [*certain("a@1 c@2 d@3"), Event("b", "B", 1, 2)]
    assert confidences("PATTERN SEQ(A a, AND(C c, B b), D d)", *events) == {"a c b d": Fraction(1, 2)}


def test_and_counts_its_range_from_its_earliest_to_its_latest_event() -> None:
    assert found("PATTERN AND(A a, B b, C c)", *certain("a@5 b@2 c@9")) == {"a b c": (2, 9, Fraction(1))}


def test_no_event_is_bound_twice() -> None:
    assert signatures("PATTERN AND(* x, A y)", "a1@1 b1@1") == {"b1 a1"}


def test_a_signature_counts_once_per_world_whatever_alternatives_produce_it() -> None:
    events = Event("a", "A", 1, 2), *certain("b@2")
    assert confidences("PATTERN SEQ(OR(A x, * y), B b)", *events) == {"a b": Fraction(1, 2)}


def test_or_inside_seq_distributes() -> None:
    assert signatures("PATTERN SEQ(OR(A x, B y), C c)", "a1@1 b1@2 c1@3") == {"a1 c1", "b1 c1"}


def test_a_predicate_on_a_variable_of_another_alternative_does_not_apply() -> None:
    query = "PATTERN OR(A x, B y) WHERE x.x = 1"
    assert signatures(query, "a1@1 a2@1 b1@1", a1={"x": 1}, a2={"x": 2}) == {"a1", "b1"}


def test_a_window_of_w_spans_at_most_w_minus_1_ticks() -> None:
    assert signatures("PATTERN SEQ(A a, B b) WITHIN 3 ticks", "a@1 b1@3 b2@4") == {"a b1"}
    assert confidences("PATTERN AND(A a, B b) WITHIN 1 ticks", Event("a", "A", 1, 2), *certain("b@1")) == {
        "a b": Fraction(1, 2)
    }


# --- fitting -------------------------------------------------------------------------------


def test_an_event_with_a_null_key_fits_nothing() -> None:
    keys = {"a": {"k": "p"}, "b2": {"k": "p"}}
    query = "PATTERN SEQ(A a, B b) WHERE [k] STRATEGY skip_till_next_match"
    assert signatures(query, "a@1 b1@2 b2@3", **keys) == {"a b2"}


def test_the_members_of_a_group_share_the_key() -> None:
    keys = {"b1": {"k": "p"}, "b2": {"k": "q"}}
    for strategy in (STRICT, PARTITION, NEXT, ""):
        assert signatures(f"PATTERN B+ b[] WHERE [k] WITHIN 9 ticks {strategy}", "b1@1 b2@2", **keys) == {
            *("b1", "b2"),
        }


def test_all_components_share_every_key() -> None:
    values = {"a": {"k": "p", "g": "u"}, "b1": {"k": "p", "g": "v"}, "b2": {"k": "p", "g": "u"}}
    assert signatures("PATTERN SEQ(A a, B b) WHERE [k, g]", "a@1 b1@2 b2@3", **values) == {"a b2"}


def test_a_negated_component_shares_the_key_too() -> None:
    keys = {"a": {"k": "p"}, "n": {"k": "q"}, "b": {"k": "p"}}
    assert signatures("PATTERN SEQ(A a, !N n, B b) WHERE [k]", "a@1 n@2 b@3", **keys) == {"a b"}


def test_an_unknown_predicate_does_not_hold() -> None:
    assert signatures("PATTERN SEQ(A a, B b) WHERE a.x <> b.x", "a@1 b1@2 b2@2", a={"x": 1}, b1={"x": 2}) == {
        "a b1"
    }


# --- negation ------------------------------------------------------------------------------


def test_negation_looks_strictly_between() -> None:
    events = *certain("a@1 b@3"), Event("n", "N", 1, 3)
    assert confidences("PATTERN SEQ(A a, !N n, B b)", *events) == {"a b": Fraction(2, 3)}


def test_several_negations_in_one_gap_each_look_at_the_whole_gap() -> None:
    events = *certain("a@0 b@5"), Event("n", "N", 4, 7), Event("m", "M", 1, 10)
    assert confidences("PATTERN SEQ(A a, !N n, !M m, B b)", *events) == {
        "a b": Fraction(3, 4) * Fraction(6, 10)
    }


def test_one_event_can_be_absent_from_several_gaps() -> None:
    events = *certain("a@0 b@3 c@6"), Event("n", "N", 1, 5)
    assert confidences("PATTERN SEQ(A a, !N n, B b, !N m, C c)", *events) == {"a b c": Fraction(1, 5)}


def test_leading_negation_reaches_back_from_the_last_event() -> None:
    events = *certain("a@10 b@12"), Event("n", "N", 6, 10)  # forbidden: 8 and 9
    assert confidences("PATTERN SEQ(!N n, A a, B b) WITHIN 5 ticks", *events) == {"a b": Fraction(3, 5)}


def test_trailing_negation_reaches_on_from_the_first_event() -> None:
    events = *certain("a@10 b@12"), Event("n", "N", 12, 16)  # forbidden: 13 and 14
    assert confidences("PATTERN SEQ(A a, B b, !N n) WITHIN 5 ticks", *events) == {"a b": Fraction(3, 5)}


def test_negation_beside_an_and_group_looks_up_to_its_nearest_event() -> None:
    assert signatures("PATTERN SEQ(A a, !N n, AND(B b, C c))", "a@1 n@3 b@3 c@5") == {"a b c"}
    assert signatures("PATTERN SEQ(A a, !N n, AND(B b, C c))", "a@1 n@3 b@4 c@5") == set()
    assert signatures("PATTERN SEQ(AND(B b, C c), !N n, A a)", "b@1 n@2 c@3 a@4") == {"b c a"}


def test_a_negated_component_is_judged_with_all_positive_events_bound() -> None:
    values = {"n": {"x": 1}, "b1": {"x": 1}, "b2": {"x": 2}}
    query = "PATTERN SEQ(A a, !N n, B b) WHERE n.x = b.x"
    assert signatures(query, "a@1 n@2 b1@3 b2@3", **values) == {"a b2"}


def test_a_timing_constraint_on_a_negated_component_is_part_of_its_fitting() -> None:
    events = *certain("a@0 b@10"), Event("n", "N", 1, 5)  # forbidden: 1 and 2
    query = "PATTERN SEQ(A a, !N n, B b) WHERE n.time - a.time <= 2 ticks"
    assert confidences(query, *events) == {"a b": Fraction(3, 5)}


# --- skip_till_next_match ------------------------------------------------------------------

NEXT = "STRATEGY skip_till_next_match"


def test_events_at_the_same_tick_are_no_rivals() -> None:
    assert signatures(f"PATTERN SEQ(A a, B b) {NEXT}", "a@1 b1@2 b2@2 b3@3") == {"a b1", "a b2"}


def test_a_rival_at_the_tick_of_the_event_before_does_not_count() -> None:
    assert signatures(f"PATTERN SEQ(A a, B b) {NEXT}", "b1@1 a@1 b2@2") == {"a b2"}


def test_only_an_event_that_fits_what_is_bound_is_a_rival() -> None:
    values = {"a": {"x": 1}, "b1": {"x": 2}, "b2": {"x": 1}}
    assert signatures(f"PATTERN SEQ(A a, B b) WHERE a.x = b.x {NEXT}", "a@1 b1@2 b2@3", **values) == {"a b2"}


def test_a_predicate_bound_later_makes_no_rival_earlier() -> None:
    values = {"b1": {"x": 1}, "b2": {"x": 2}, "c": {"x": 2}}
    query = f"PATTERN SEQ(A a, B b, C c) WHERE b.x = c.x {NEXT}"
    assert signatures(query, "a@1 b1@2 b2@3 c@4", **values) == set()


def test_a_timing_constraint_never_decides_who_is_a_rival() -> None:
    where = "WHERE b.time - a.time >= 3 ticks"
    assert signatures(f"PATTERN SEQ(A a, B b) {where}", "a@1 b1@2 b2@5") == {"a b2"}
    assert signatures(f"PATTERN SEQ(A a, B b) {where} {NEXT}", "a@1 b1@2 b2@5") == set()


# --- contiguity ----------------------------------------------------------------------------

STRICT = "STRATEGY strict_contiguity"
PARTITION = "STRATEGY partition_contiguity"


def test_strict_contiguity_counts_events_of_any_type() -> None:
    events = *certain("a@1 b@3"), Event("z", "Z", 1, 3)
    assert confidences(f"PATTERN SEQ(A a, B b) {STRICT}", *events) == {"a b": Fraction(2, 3)}


def test_strict_contiguity_counts_events_of_other_keys() -> None:
    keys = {"a": {"k": "p"}, "b": {"k": "p"}, "z": {"k": "q"}}
    assert signatures(f"PATTERN SEQ(A a, B b) WHERE [k] {STRICT}", "a@1 z@2 b@3", **keys) == set()


def test_partition_contiguity_counts_events_with_the_same_key() -> None:
    keys = {"a": {"k": "p"}, "b": {"k": "p"}, "y": {"k": "q"}}
    query = f"PATTERN SEQ(A a, B b) WHERE [k] {PARTITION}"
    assert signatures(query, "a@1 y@2 z@2 b@3", **keys) == {"a b"}
    assert signatures(query, "a@1 y@2 z@2 b@3", **{**keys, "z": {"k": "p"}}) == set()


# --- Kleene plus under skip_till_any_match -------------------------------------------------


def test_a_group_is_any_non_empty_set_and_may_hold_ties() -> None:
    query = "PATTERN SEQ(A a, B+ b[], C c)"
    assert signatures(query, "a@1 b1@2 b2@2 b3@4 c@4") == {"a b1 c", "a b2 c", "a b1+b2 c"}


def test_a_set_is_written_in_code_point_order_of_its_ids() -> None:
    assert signatures("PATTERN SEQ(B+ b[])", "b2@1 b10@2") == {"b2", "b10", "b10+b2"}


def test_neighbouring_groups_lie_one_after_the_other() -> None:
    assert signatures("PATTERN SEQ(B+ x[], B+ y[])", "b1@1 b2@2 b3@3") == {
        *("b1 b2", "b1 b3", "b2 b3", "b1 b2+b3", "b1+b2 b3"),
    }


def test_a_predicate_over_order_makes_sequences_without_ties() -> None:
    events = Event("b1", "B", 2, 3, x=1), Event("b2", "B", 2, 3, x=1)
    query = "PATTERN SEQ(B+ b[]) WHERE b[i].x >= b[i-1].x"
    assert confidences(query, *events) == {
        "b1": Fraction(1),
        "b2": Fraction(1),
        "b1+b2": Fraction(1, 4),
        "b2+b1": Fraction(1, 4),
    }


def test_reading_order_in_return_makes_sequences_too() -> None:
    assert signatures("PATTERN SEQ(B+ b[]) RETURN b[last].x", "b1@2 b2@2 b3@1") == {
        *("b1", "b2", "b3", "b3+b1", "b3+b2"),
    }


def test_what_reads_the_member_before_is_not_checked_for_the_first() -> None:
    values = {"b1": {"x": 5}, "b2": {"x": 3}, "b3": {"x": 4}}
    query = "PATTERN SEQ(B+ b[]) WHERE b[i].x > max(b[1..i-1].x)"
    assert signatures(query, "b1@1 b2@2 b3@3", **values) == {"b1", "b2", "b3", "b2+b3"}


def test_an_aggregate_filters_the_finished_group() -> None:
    values = {"b1": {"x": 1}, "b2": {"x": 3}}
    assert signatures("PATTERN SEQ(B+ b[]) WHERE avg(b[].x) >= 2", "b1@1 b2@2", **values) == {"b2", "b1+b2"}


def test_a_later_component_is_compared_with_each_member() -> None:
    values = {"b1": {"x": 1}, "b2": {"x": 3}, "c": {"x": 2}}
    query = "PATTERN SEQ(B+ b[], C c) WHERE b[i].x < c.x"
    assert signatures(query, "b1@1 b2@2 c@3", **values) == {"b1 c"}


def test_negation_after_a_group_looks_from_its_last_member() -> None:
    assert signatures("PATTERN SEQ(B+ b[], !N n, C c)", "b1@1 n@2 b2@3 c@4") == {"b2 c", "b1+b2 c"}


# --- Kleene plus under skip_till_next_match ------------------------------------------------


def test_the_group_is_every_fitting_event_up_to_the_first_successor() -> None:
    query = f"PATTERN SEQ(A a, B+ b[], C c) {NEXT}"
    assert signatures(query, "a@1 b1@2 b2@4 c1@5 c2@6") == {"a b1+b2 c1"}
    assert signatures(query, "a@1 b1@2 c1@3 b2@4 c2@5") == {"a b1 c1"}


def test_the_successor_comes_after_the_first_fitting_event() -> None:
    query = f"PATTERN SEQ(A a, B+ b[], C c) {NEXT}"
    assert signatures(query, "a@1 c1@2 b1@3 c2@3 c3@4") == {"a b1 c3"}


def test_a_group_filter_never_shrinks_the_group() -> None:
    query = f"PATTERN SEQ(A a, B+ b[], C c) WHERE count(b[]) <= 1 {NEXT}"
    assert signatures(query, "a@1 b1@2 b2@3 c@4") == set()


def test_a_group_after_a_group_begins_at_its_first_member() -> None:
    query = f"PATTERN SEQ(A a, B+ b[], C+ c[], D d) {NEXT}"
    assert signatures(query, "a@1 b1@2 c1@3 b2@4 c2@5 d@6") == {"a b1 c1+c2 d"}


def test_the_component_after_the_successor_follows_the_usual_rule() -> None:
    query = f"PATTERN SEQ(A a, B+ b[], C c, D d) {NEXT}"
    assert signatures(query, "a@1 b@2 c@3 d1@4 d2@5") == {"a b c d1"}


def test_a_trailing_group_ends_before_first_plus_w() -> None:
    query = f"PATTERN SEQ(A a, B+ b[]) WITHIN 4 ticks {NEXT}"
    assert signatures(query, "a@1 b1@2 b2@4 b3@5") == {"a b1+b2"}


def test_a_leading_group_starts_at_any_fitting_event() -> None:
    query = f"PATTERN SEQ(B+ b[], C c) {NEXT}"
    assert signatures(query, "b1@1 b2@2 b3@2 c1@3 b4@4 c2@5") == {"b1+b2+b3 c1", "b2+b3 c1", "b4 c2"}


def test_a_pattern_that_is_one_group_takes_all_in_the_window() -> None:
    query = f"PATTERN SEQ(B+ b[]) WITHIN 3 ticks {NEXT}"
    assert signatures(query, "b1@1 b2@2 b3@4") == {"b1+b2", "b2+b3", "b3"}


# --- Kleene plus under contiguity ----------------------------------------------------------


def test_a_group_is_exactly_what_lies_between_its_neighbours() -> None:
    query = f"PATTERN SEQ(A a, B+ b[], C c) {STRICT}"
    assert signatures(query, "a@1 b1@2 b2@3 b3@4 c@4") == {"a b1+b2 c"}
    assert signatures(query, "a@1 b1@2 z@3 c@4") == set()
    assert signatures(query, "a@1 c@2") == set()


def test_a_trailing_group_may_stop_anywhere_and_choose_among_ties_at_its_end() -> None:
    query = f"PATTERN SEQ(A a, B+ b[]) {STRICT}"
    assert signatures(query, "a@1 b1@2 b2@2 b3@3") == {"a b1", "a b2", "a b1+b2", "a b1+b2+b3"}
    assert signatures(query, "a@1 b1@2 z@3 b2@4") == {"a b1"}


def test_a_leading_group_mirrors_it() -> None:
    query = f"PATTERN SEQ(B+ b[], C c) {STRICT}"
    assert signatures(query, "b1@1 b2@2 b3@2 c@3") == {"b2 c", "b3 c", "b2+b3 c", "b1+b2+b3 c"}


def test_partition_contiguity_groups_within_the_key() -> None:
    keys = {"a": {"k": "p"}, "b1": {"k": "p"}, "b2": {"k": "q"}, "c": {"k": "p"}}
    query = f"PATTERN SEQ(A a, B+ b[], C c) WHERE [k] {PARTITION}"
    assert signatures(query, "a@1 b1@2 b2@2 z@3 c@4", **keys) == {"a b1 c"}


# --- timing constraints --------------------------------------------------------------------


def test_timing_constraints_select_worlds() -> None:
    events = Event("a", "A", 1, 4), *certain("b@5")
    assert found("PATTERN SEQ(A a, B b) WHERE b.time - a.time <= 2 ticks", *events) == {
        "a b": (3, 5, Fraction(1, 2))
    }
    assert confidences("PATTERN SEQ(A a, B b) WHERE b.time <> a.time + 2 ticks", *events) == {
        "a b": Fraction(3, 4)
    }


def test_a_timing_constraint_on_a_group_is_one_on_each_member() -> None:
    query = "PATTERN SEQ(A a, B+ b[]) WHERE b[i].time - a.time <= 2 ticks"
    assert signatures(query, "a@1 b1@2 b2@3 b3@4") == {"a b1", "a b2", "a b1+b2"}


# --- rows and bounds -----------------------------------------------------------------------


def test_rows_carry_the_return_columns_most_probable_first() -> None:
    events = Event("a1", "A", 1, 2, x=4), Event("b1", "B", 2, 2, x=5), Event("b2", "B", 9, 9)
    query = "PATTERN SEQ(A a, B b) RETURN a.x + b.x AS total, b, end AS finish, confidence AS p"
    rows = match_table(plan_of(query), event_table(events)).to_pylist()
    assert [list(row.values()) for row in rows] == [
        [[["a1"], ["b2"]], 1, 9, 1.0, None, "b2", 9, 1.0],
        [[["a1"], ["b1"]], 1, 2, 0.5, 9, "b1", 2, 0.5],
    ]


def test_a_variable_of_another_alternative_returns_null() -> None:
    query = "PATTERN OR(A x, B y) RETURN x, y"
    rows = match_table(plan_of(query), event_table(certain("a@1 b@2"))).to_pylist()
    assert [(row["x"], row["y"]) for row in rows] == [("a", None), (None, "b")]


def test_events_that_cannot_matter_cost_no_worlds() -> None:
    wide = Event("z", "Z", 0, 10**12)
    assert confidences("PATTERN A a", wide, *certain("a@1")) == {"a": 1}


def test_keys_are_enumerated_apart_with_the_same_result_as_together() -> None:
    events = event_table(Event(f"{t}{k}", t.upper(), 1, 3, k=k) for t in "ab" for k in "pqr")
    plan = plan_of("PATTERN SEQ(A a, B b) WHERE [k]")
    apart = exact_matches(plan, events)
    assert set(apart) == {(("ap",), ("bp",)), (("aq",), ("bq",)), (("ar",), ("br",))}
    assert apart == enumerate_worlds(plan, events.to_pylist())


def test_enumerating_keys_together_gives_the_same_for_every_construct() -> None:
    def same(case: Case) -> None:
        plan = plan_of(case.query)
        assert exact_matches(plan, case.table) == enumerate_worlds(plan, case.table.to_pylist())

    check(any_cases().filter(lambda case: "[k" in case.query), same, FEW_EXAMPLES)


def test_too_many_worlds_are_refused_with_their_number() -> None:
    events = [Event(f"a{n}", "A", 1, 10) for n in range(6)]
    with pytest.raises(
        QueryTooLargeError, match=r"1,000,000 possible worlds.* at most 100,000.*--engine event"
    ):
        found("PATTERN SEQ(A a, A b)", *events)


def test_too_many_groups_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepctl.engines.worlds.one_world.MAX_WORK", 1_000)
    events = [Event(f"b{n}", "B", n, n) for n in range(12)]
    with pytest.raises(QueryTooLargeError, match="more than 1,000 steps"):
        found("PATTERN SEQ(B+ b[])", *events)


@pytest.mark.parametrize("query", ["SEQ(A a, B+ b[])", "SEQ(A a, B+ b[]) WHERE b[i].x >= b[i-1].x"])
def test_sets_of_a_group_that_are_too_many_are_refused_before_one_is_listed(query: str) -> None:
    events = [Event("a", "A", 0, 0), *(Event(f"b{n:02}", "B", n, n, x=n) for n in range(1, 18))]
    with pytest.raises(QueryTooLargeError, match=r"17 events .* b\[\] .* 2\^17 - 1 sets.* at most 100,000"):
        found(f"PATTERN {query}", *events)
    assert len(found(f"PATTERN {query}", *events[:9])) == 2**8 - 1


def test_an_event_without_mass_is_named() -> None:
    with pytest.raises(EventSchemaError, match="'a1'"):
        found("PATTERN A a", histogram("a1", "A", (1, 2, 0.0)))
