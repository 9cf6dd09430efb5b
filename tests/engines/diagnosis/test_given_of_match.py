"""One match of which something is given: the shares of worlds behind it, what it can use, why it is none."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.engines.columns.events import events_of
from cepctl.engines.confidence.given.known import known_events
from cepctl.engines.diagnosis.one_match import ids_of, one_match
from cepctl.engines.diagnosis.shown import OneMatch
from cepctl.engines.diagnosis.valid_intervals import bound_events, valid_intervals
from cepctl.engines.diagnosis.worlds_left import GivenShown
from cepctl.engines.event.match import match_events
from cepctl.errors import ContradictionError
from tests.engines.agreement import FEW_EXAMPLES, check, rows_by_signature
from tests.engines.confidence.given.given_cases import with_given
from tests.engines.confidence.given.worked_given import IN_LOGGED_ORDER, SAMPLES, SENT, STARTS_FIRST, TASK, N
from tests.plans import Event, event_table, plan_of
from tests.strategies import LEVELS, Case


def shown(query: str, ids: str, *events: Event) -> OneMatch:
    return one_match(plan_of(query), event_table(events), ids_of(ids), 8)


def given_of(match: OneMatch) -> GivenShown:
    assert match.given is not None
    return match.given


def usable(match: OneMatch) -> list[tuple[int, int]]:
    return [(each.valid_lower, each.valid_upper) for each in match.members]


@pytest.mark.parametrize(
    ("query", "ids", "share", "confidence", "without"),
    [
        (f"PATTERN SEQ(S s, X x, F f) {STARTS_FIRST}", "s x f", 5 / 8, 2 / 5, 1 / 4),
        (f"PATTERN SEQ(F f, X x) {STARTS_FIRST}", "f x", 5 / 8, 1 / 10, 1 / 4),
        (
            "PATTERN SEQ(S s, X x, F f) GIVEN SEQ(S s, F f) WITHIN 3 ticks IF s.k = f.k",
            *("s x f", 7 / 16, 1 / 7, 1 / 4),
        ),
        # The samples are a series: of the events of the match only two are of it.
        (f"PATTERN SEQ(A a, X x, B b) {IN_LOGGED_ORDER}", "a x1 b", 409 / 625,
         85 / 409, 1 / 5),
    ],
)  # fmt: skip
def test_the_confidence_is_the_ratio_of_two_shares_of_worlds(
    query: str, ids: str, share: float, confidence: float, without: float
) -> None:
    match = shown(query, ids, *(SAMPLES if "x1" in ids else TASK))
    assert given_of(match).probability == pytest.approx(share)
    assert match.confidence == pytest.approx(confidence)
    assert given_of(match).without == pytest.approx(without)


def test_what_narrows_intervals_counts_in_the_share() -> None:
    """X is 1 to 10 and before y, which is 5: of ten ticks four are left, and nothing ties the two."""
    events = (Event("x", "X", 1, 10, k="m"), Event("y", "Y", 5, 5, k="m"), Event("z", "Z", 3, 3))
    match = shown("PATTERN SEQ(X x, Z z) GIVEN SEQ(X x, Y y) IF x.k = y.k", "x z", *events)
    assert given_of(match).probability == pytest.approx(4 / 10)
    assert match.confidence == pytest.approx(2 / 4)
    assert given_of(match).without == pytest.approx(2 / 10)
    assert (match.members[0].event.lower, match.members[0].event.upper) == (1, 10)
    assert usable(match) == [(1, 2), (3, 3)]


def test_what_says_nothing_of_the_events_changes_nothing() -> None:
    match = shown(f"PATTERN SEQ(X x, Y y) {STARTS_FIRST}", "x y", *TASK, Event("y", "Y", 1, 8))
    assert not given_of(match).changes


def test_events_that_share_a_clock_have_their_confidence_without_a_share() -> None:
    query = "PATTERN SEQ(A a, B b) GIVEN SEQ(S s, R r) IF s.k = r.k"
    match = one_match(plan_of(query, clocks=N), event_table(SENT), ids_of("a b"), 8)
    assert match.confidence == pytest.approx(3 / 5)
    assert given_of(match).probability is None
    assert given_of(match).without == pytest.approx(1 / 3)


def test_a_clause_that_leaves_no_world_is_the_reason() -> None:
    clauses = "GIVEN SEQ(S s, X x) IF s.k = x.k " + STARTS_FIRST
    match = shown(f"PATTERN SEQ(F f, S s) {clauses}", "f s", *TASK)
    assert [each.condition.text for each in match.reasons] == [STARTS_FIRST]


def test_events_that_contradict_it_have_no_match_to_show() -> None:
    with pytest.raises(ContradictionError, match="no possible world satisfies"):
        shown(
            f"PATTERN SEQ(S s) {STARTS_FIRST}",
            "s",
            Event("s", "S", 5, 6, k="m"),
            Event("f", "F", 2, 4, k="m"),
        )


def agrees_with_the_rows(case: Case) -> None:
    plan = plan_of(case.query)
    try:
        rows = rows_by_signature(match_events(plan, case.table))
    except ContradictionError:
        return
    for signature in sorted(rows)[:2]:
        match, row = one_match(plan, case.table, signature, bins=6), rows[signature]
        assert match.reasons == ()
        whole = match.whole or match
        assert (whole.start, whole.end) == (row["start"], row["end"])
        assert whole.confidence == pytest.approx(row["confidence"], abs=1e-9)


def test_what_is_shown_is_what_matches() -> None:
    check(with_given(st.one_of(LEVELS["chains"], LEVELS["negation"])), agrees_with_the_rows, FEW_EXAMPLES)


@st.composite
def streams(draw: st.DrawFn) -> list[Event]:
    kinds = draw(st.lists(st.sampled_from("ABC"), min_size=3, max_size=5))
    starts = [(draw(st.integers(0, 5)), draw(st.integers(0, 3))) for _ in kinds]
    return [
        Event(f"{kind.lower()}{i}", kind, low, low + width, x=i)
        for i, (kind, (low, width)) in enumerate(zip(kinds, starts, strict=True))
    ]


CLAUSES = {
    "SEQ(* p, * q) IF p.x + 1 = q.x": lambda left, right: right[1] - left[1] == 1,
    "SEQ(A p, B q) WITHIN 4 ticks IF p.x < q.x": lambda left, right: (
        left[0] + right[0] == "AB" and left[1] < right[1]
    ),
}


@pytest.mark.parametrize("clause", CLAUSES)
@settings(max_examples=20, deadline=None)
@given(events=streams(), window=st.integers(2, 6))
def test_an_event_can_use_the_ticks_of_the_worlds_that_remain_and_match(
    clause: str, events: list[Event], window: int
) -> None:
    query = f"PATTERN SEQ(A a, * b, C c) WITHIN {window} ticks GIVEN {clause}"
    plan, table = plan_of(query), event_table(events)
    spoken_of = [
        (i, j)
        for (i, left), (j, right) in product(enumerate(events), repeat=2)
        if i != j and CLAUSES[clause]((left.event_type, i), (right.event_type, j))
    ]
    most = 3 if "WITHIN" in clause else 10**6
    ticks = (range(each.lower, each.upper + 1) for each in events)
    worlds = [w for w in product(*ticks) if all(0 < w[j] - w[i] <= most for i, j in spoken_of)]
    if not worlds:
        return
    matches = match_events(plan, table)
    known = known_events(plan, events_of(table, None))
    bound = bound_events(matches.column("signature"), known.ids.to_arrow().cast("string"))
    valid = valid_intervals(plan, known, bound)
    place = {each.event_id: at for at, each in enumerate(events)}
    for number, signature in enumerate(matches.column("signature").to_pylist()):
        at = [place[name] for (name,) in signature]
        held = [[w[i] for i in at] for w in worlds]
        held = [h for h in held if all(a < b for a, b in pairwise(h)) and h[-1] - h[0] < window]
        entries = slice(*bound.offsets[number : number + 2].tolist())
        found = list(zip(valid.lower[entries].tolist(), valid.upper[entries].tolist(), strict=True))
        assert found == [(min(each), max(each)) for each in zip(*held, strict=True)]
