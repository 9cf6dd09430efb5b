"""`--kleene summary`: one row for all groups between the same neighbours, as probable as any of them is."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines.event.match import match_batches, match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.order import ordered
from cepctl.engines.worlds.groups import exact_summaries
from cepctl.errors import QueryTooLargeError, UnsupportedQueryError
from cepctl.plan.summary import summary_refusals
from cepctl.plan.support import engine_refusals
from tests.engines.agreement import EXAMPLES, FEW_EXAMPLES, check
from tests.plans import Event, event_table, plan_of
from tests.random_events import streams
from tests.strategies import Case

SUMMARY = MatchOptions(kleene="summary")


def summarised(query: str, *events: Event, options: MatchOptions = SUMMARY) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = ordered(
        match_events(plan_of(query), event_table(events), options)
    ).to_pylist()
    return rows


def members_of(row: dict[str, object]) -> dict[str, float]:
    """The column `members`, read back."""
    pairs = [entry.rsplit(":", 1) for entry in str(row["members"]).split(" ")]
    return {name: float(probability) for name, probability in pairs}


def agrees_with_the_judge(case: Case) -> None:
    plan = plan_of(case.query)
    assume(not summary_refusals(plan) and not engine_refusals(plan, "event"))
    expected = exact_summaries(plan, case.table)
    rows = match_events(plan, case.table, SUMMARY).to_pylist()
    found = {tuple(map(tuple, row["signature"])): row for row in rows}
    assert len(found) == len(rows)
    assert sorted(found) == sorted(expected)
    for signature, exact in expected.items():
        row = found[signature]
        assert (row["start"], row["end"], row["count"]) == (
            exact.start,
            exact.end,
            str(len(exact.signatures)),
        )
        assert math.isclose(row["confidence"], exact.confidence, rel_tol=0, abs_tol=1e-9)
        members = members_of(row)
        assert list(members) == sorted(exact.members)
        for name, probability in members.items():
            assert math.isclose(probability, exact.members[name], rel_tol=1e-9)


@st.composite
def summary_cases(draw: st.DrawFn, *, even: bool = False) -> Case:
    """A pattern with one group, one to three single events and sometimes a negation; `even`: no histogram."""
    size = draw(st.sampled_from([2, 3, 3, 4]))
    place = draw(st.integers(0, size - 1))
    types = [draw(st.sampled_from(["A", "B", "C", "A|B"])) for _ in range(size)]
    parts = [
        f"{types[i]}{f'+ {name}[]' if i == place else f' {name}'}" for i, name in enumerate("abcd"[:size])
    ]
    group, other = "abcd"[place], "abcd"[(place + draw(st.integers(1, size - 1))) % size]
    gaps = [i for i in range(1, size) if place not in (i - 1, i)]
    if gaps and draw(st.integers(0, 3)) == 0:
        parts.insert(draw(st.sampled_from(gaps)), f"!{draw(st.sampled_from('ABC'))} n")
    pool = [
        f"{group}[i].x >= 1",
        f"{group}[i].x >= {other}.x",
        f"{group}[i].k = {other}.k",
        f"{group}[i].time - {other}.time <= 2 ticks AND {other}.time - {group}[i].time <= 2 ticks",
        f"{group}[i].time >= '1970-01-01T00:00:00.003Z'",
        f"{group}[i].time < '1970-01-01T00:00:00.006Z'",
        f"{other}.time <= '1970-01-01T00:00:00.005Z'",
        f"{group}[i].time <> {other}.time + 2 ticks",
        f"{group}[i].x >= {group}[i-1].x",
        f"{group}[i].x > max({group}[1..i-1].x)",
        "[k]",
    ]
    conditions = draw(st.lists(st.sampled_from(pool), max_size=2, unique=True))
    query = f"PATTERN SEQ({', '.join(parts)})"
    query += f" WHERE {' AND '.join(conditions)}" if conditions else ""
    query += draw(st.sampled_from(["", " WITHIN 4 ticks", " WITHIN 5 ticks", " WITHIN 7 ticks"]))
    wanted = [each.split("|")[0] for each in types]
    found = draw(streams([*wanted, wanted[place]], draw(st.sampled_from([300, 1000]))))
    return Case(query, tuple(replace(each, pmf=None) for each in found) if even else found)


CASES = {"histograms": summary_cases(), "intervals": summary_cases(even=True)}


@pytest.mark.parametrize("name", CASES)
def test_a_summary_says_what_the_worlds_say(name: str) -> None:
    check(CASES[name], agrees_with_the_judge, EXAMPLES)


def test_both_ways_to_sum_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of positive terms, which only improbable members take, judged on all."""
    monkeypatch.setattr("cepctl.engines.event.kleene_summary._SAFE_SHARE", 2.0)
    check(CASES["histograms"], agrees_with_the_judge, FEW_EXAMPLES)


def test_improbable_members_of_a_set_between_two_events_are_not_counted_twice() -> None:
    """Of two members, each there with p = 1e-4, at least one is with 2 p - p^2, and not with 2 p."""
    members = [Event(name, "B", 1, 10_000) for name in ("b1", "b2")]
    events = [Event("a", "A", 0, 0), *members, Event("c", "C", 2, 2)]
    plan = plan_of("PATTERN SEQ(A a, B+ b[], C c)")
    (row,) = match_events(plan, event_table(events), SUMMARY).to_pylist()
    assert row["confidence"] == pytest.approx(2e-4 - 1e-8, rel=1e-12)


@pytest.mark.parametrize("pattern", ["SEQ(A+ a[], B b)", "SEQ(B b, A+ a[])", "SEQ(A+ a[], B b, C c)"])
def test_slices_of_time_share_the_rows_out_by_the_first_neighbour(pattern: str) -> None:
    """Also where the group comes first, whose members may begin in an earlier slice."""
    plan = plan_of(f"PATTERN {pattern} WITHIN 6 ticks")
    events = [Event(f"e{i}", "ABAC"[i % 4], i, i + i % 3) for i in range(16)]
    whole = match_events(plan, event_table(events), SUMMARY)
    slices = [
        pa.Table.from_batches(batches, whole.schema)
        for owned in ((-9, 4), (5, 7), (8, 99))
        if (batches := list(match_batches(plan, event_table(events), SUMMARY, owned)))
    ]
    assert len(slices) > 1
    assert ordered(pa.concat_tables(slices)).equals(ordered(whole))


# --- by hand -------------------------------------------------------------------------------

AROUND = (Event("a", "A", 0, 0), Event("c", "C", 10, 10))


def test_members_are_independent_between_neighbours_that_are_certain() -> None:
    """1 - (1/2)(1/4) = 7/8: half of b1 and three quarters of b2 lie before c."""
    (row,) = summarised(
        "PATTERN SEQ(A a, B+ b[], C c)", *AROUND, Event("b1", "B", 9, 10), Event("b2", "B", 7, 10)
    )
    assert row["match"] == "a * c"
    assert row["signature"] == [["a"], ["*"], ["c"]]
    assert (row["start"], row["end"]) == (0, 10)
    assert (row["confidence"], row["members"], row["count"]) == (0.875, "b1:0.5 b2:0.75", "3")


def test_a_thousand_members_are_counted_and_never_listed() -> None:
    sure = [Event(f"b{i:03}", "B", 3, 6) for i in range(1000)]
    (row,) = summarised("PATTERN SEQ(A a, B+ b[], C c)", *AROUND, *sure)
    assert row["count"] == str(2**1000 - 1)
    assert row["confidence"] == 1.0


def test_a_window_keeps_members_apart_that_exclude_each_other() -> None:
    """Early a leaves room for b1 alone, late a for b2 alone: {b1, b2} fits no window of 4 ticks."""
    rows = summarised(
        "PATTERN SEQ(A a, B+ b[], C c) WITHIN 4 ticks",
        Event("a", "A", 0, 9), Event("b1", "B", 1, 1), Event("b2", "B", 8, 8), Event("c", "C", 2, 12),
    )  # fmt: skip
    assert [row["count"] for row in rows] == ["2"]


def test_improbable_rows_lose_no_digits() -> None:
    """P(b between) is one tick in 10^12, with a second candidate as improbable."""
    wide = 10**12
    (row,) = summarised(
        "PATTERN SEQ(A a, B+ b[], C c)",
        Event("a", "A", 0, 0), Event("c", "C", 2, 2), Event("b1", "B", 1, wide), Event("b2", "B", 1, wide),
    )  # fmt: skip
    assert math.isclose(float(str(row["confidence"])), 2 / wide, rel_tol=1e-9)


def test_ids_in_the_members_are_encoded_as_in_the_match() -> None:
    (row,) = summarised("PATTERN SEQ(A a, B+ b[], C c)", *AROUND, Event("b 1+%:x", "B", 5, 5))
    assert row["members"] == "b%201%2B%25:x:1.0"


def test_groups_that_only_listing_can_count_are_refused_above_the_cap() -> None:
    """A predicate over the members before the last one decides how many sequences there are."""
    events = [Event(f"b{i:02}", "B", i, i, x=i) for i in range(1, 20)]
    query = "PATTERN SEQ(A a, B+ b[], C c) WHERE b[i].x >= b[i-2].x"
    around = (Event("a", "A", 0, 0), Event("c", "C", 30, 30))
    assert [row["count"] for row in summarised(query, *around, *events[:8])] == [str(2**8 - 1)]
    with pytest.raises(QueryTooLargeError, match="Kleene group"):
        summarised(query, *around, *events, options=replace(SUMMARY, max_matches=1000))


REFUSED = {
    "PATTERN SEQ(A a, B b)": "a pattern without a Kleene group",
    "PATTERN SEQ(A+ a[], B b, C+ c[])": "several Kleene groups",
    "PATTERN OR(SEQ(A a, B+ b[]), SEQ(B c, A+ d[]))": "OR",
    "PATTERN SEQ(A a, B* b[], C c)": "a component that may be absent",
    "PATTERN SEQ(A a, B+ b[], C? c)": "a component that may be absent",
    "PATTERN SEQ(A a, B+ b[], C c) RETURN count(b[])": "RETURN of b[]",
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_has_no_summary_is_refused_by_name(query: str) -> None:
    with pytest.raises(UnsupportedQueryError, match=re.escape(REFUSED[query])):
        summarised(query, *AROUND)
