"""Intervals as wide as time itself: confidences against closed forms in rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial, isclose

import pytest

from cepctl.engines.event.match import match_events
from tests.engines.agreement import rows_by_signature
from tests.far_events import PLACES, moved
from tests.plans import Event, event_table, plan_of
from tests.strategies import Case

END = 2**62
ALL = 2**63 + 1
"""How many ticks there are."""


def only_row(query: str, *events: Event) -> tuple[float, int, int]:
    (row,) = match_events(plan_of(f"PATTERN {query}"), event_table(events)).to_pylist()
    return row["confidence"], row["start"], row["end"]


def always(event_id: str, event_type: str) -> Event:
    return Event(event_id, event_type, -END, END)


def pairs_within(ticks: int, window: int) -> Fraction:
    """P(a < b < a + window) of two events that are each uniform over so many ticks."""
    reach = min(window, ticks) - 1
    return Fraction(sum_of(reach, ticks), ticks**2)


def sum_of(reach: int, ticks: int) -> int:
    """Pairs a < b of `ticks` ticks with b - a <= reach: sum over d = 1..reach of ticks - d."""
    return reach * ticks - reach * (reach + 1) // 2


def close(actual: float, exact: Fraction) -> bool:
    return isclose(actual, float(exact), rel_tol=1e-9, abs_tol=0)


@pytest.mark.parametrize("length", [2, 3, 5])
def test_a_chain_of_events_that_may_happen_at_any_time(length: int) -> None:
    events = [always(f"e{i}", f"T{i}") for i in range(length)]
    query = f"SEQ({', '.join(f'T{i} v{i}' for i in range(length))})"
    confidence, start, end = only_row(query, *events)
    assert (start, end) == (-END, END)
    assert close(confidence, Fraction(comb(ALL, length), ALL**length))
    assert close(confidence, Fraction(1, factorial(length)))


@pytest.mark.parametrize("window", [2, 3, 1_000, END - 1, END, END + 1, 2**63 - 2, 2**63 - 1, 2**63, 10**30])
def test_a_window_of_any_length_over_all_time(window: int) -> None:
    found = only_row(f"SEQ(A a, B b) WITHIN {window} ticks", always("a", "A"), always("b", "B"))
    assert close(found[0], pairs_within(ALL, window))
    assert found[1:] == (-END, END)


@pytest.mark.parametrize("distance", [1, 1_000, END, 2**63 - 2, 2**63 - 1, 2**63, 2**70])
def test_a_timing_constraint_of_any_length_over_all_time(distance: int) -> None:
    events = always("a", "A"), always("b", "B")
    near = only_row(f"SEQ(A a, B b) WHERE b.time - a.time <= {distance} ticks", *events)
    assert close(near[0], pairs_within(ALL, distance + 1))
    if distance < 2**63 - 1:
        rest = Fraction(comb(ALL, 2), ALL**2) - pairs_within(ALL, distance + 1)
        far = only_row(f"SEQ(A a, B b) WHERE b.time - a.time > {distance} ticks", *events)
        assert close(far[0], rest)


def test_a_duration_longer_than_time_is_never_exceeded() -> None:
    plan = plan_of(f"PATTERN SEQ(A a, B b) WHERE b.time - a.time > {2**63} ticks")
    assert plan.never is not None
    assert match_events(plan, event_table([always("a", "A"), always("b", "B")])).num_rows == 0


@pytest.mark.parametrize(("window", "rows"), [(2**62 + 1, 0), (2**63 - 1, 0), (2**63 + 1, 1), (10**30, 1)])
def test_the_two_ends_of_time(window: int, rows: int) -> None:
    ends = event_table([Event("a", "A", -END, -END), Event("b", "B", END, END)])
    assert match_events(plan_of("PATTERN SEQ(A a, B b)"), ends).num_rows == 1
    assert match_events(plan_of(f"PATTERN SEQ(A a, B b) WITHIN {window} ticks"), ends).num_rows == rows


def test_what_must_be_absent_anywhere_in_time() -> None:
    events = Event("a", "A", -END, -END), Event("b", "B", END, END), always("n", "N")
    confidence, *_ = only_row("SEQ(A a, !N n, B b)", *events)
    # Left are the two ticks of a and b, where it is not between them.
    assert close(confidence, Fraction(2, ALL))


def test_negation_that_looks_at_all_time() -> None:
    first, last = Event("a", "A", 0, 0), Event("b", "B", 10, 10)
    rest = [first, last, Event("n", "N", 5, END)]
    for window in (END, 2**63 - 1, 2**63, 10**20):
        confidence, *_ = only_row(f"SEQ(A a, B b, !N n) WITHIN {window} ticks", *rest)
        # Spared are the ticks 5 to 10 and, where the window is just END long, its end.
        spared = 6 + (1 if window == END else 0)
        assert close(confidence, Fraction(spared, END - 4))


def test_a_rival_as_wide_as_time() -> None:
    events = always("a", "A"), always("b", "B"), Event("b2", "B", 0, 0)
    rows = rows_by_signature(
        match_events(plan_of("PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match"), event_table(events))
    )
    # (a, b2): a is before 0, and b is not between the two: sum over a < 0 of 1 - (-1 - a) / ALL.
    before, between = END, comb(END, 2)
    expected = Fraction(before, ALL) - Fraction(between, ALL**2)
    assert close(rows[("a",), ("b2",)]["confidence"], expected)
    # (a, b): of all pairs a < b those with a < 0 < b are broken.
    expected = Fraction(comb(ALL, 2) - END * END, ALL**2)
    assert close(rows[("a",), ("b",)]["confidence"], expected)


def test_events_at_once_over_all_time() -> None:
    events = [always("a", "A"), always("b", "B"), always("c", "C")]
    confidence, start, end = only_row("AND(A a, B b, C c)", *events)
    assert (start, end) == (-END, END)
    assert close(confidence, Fraction(1))
    confidence, *_ = only_row(f"AND(A a, B b) WITHIN {END + 1} ticks", *events[:2])
    assert close(confidence, Fraction(2 * sum_of(END, ALL) + ALL, ALL**2))


def test_a_group_over_all_time() -> None:
    events = always("a", "A"), always("b", "B"), always("c", "C")
    confidence, start, end = only_row("SEQ(A a, B+ b[], C c)", *events)
    assert (start, end) == (-END, END)
    assert close(confidence, Fraction(comb(ALL, 3), ALL**3))


SMALL: dict[str, Case] = {
    "a chain": Case("PATTERN SEQ(A a, B b, C c) WITHIN 9 ticks", ()),
    "a chain without a window": Case("PATTERN SEQ(A a, B b, C c)", ()),
    "next match": Case("PATTERN SEQ(A a, B b, C c) STRATEGY skip_till_next_match WITHIN 12 ticks", ()),
    "contiguity": Case("PATTERN SEQ(A a, B b) STRATEGY strict_contiguity", ()),
    "negation": Case("PATTERN SEQ(A a, !B n, C c) WITHIN 14 ticks", ()),
    "negation at the edge": Case("PATTERN SEQ(A a, C c, !B n) WITHIN 14 ticks", ()),
    "timing": Case("PATTERN SEQ(A a, C c) WHERE c.time - a.time <= 7 ticks", ()),
    "AND": Case("PATTERN AND(A a, B b, C c) WITHIN 9 ticks", ()),
    "a group": Case("PATTERN SEQ(A a, B+ b[], C c) WITHIN 14 ticks", ()),
    "OR": Case("PATTERN OR(SEQ(A a, B b), SEQ(A a2, !C n, B b2))", ()),
}
EVENTS = (
    Event("a1", "A", 0, 6),
    Event("a2", "A", 3, 3),
    Event("b1", "B", 2, 9, ((2, 4, 0.25), (7, 9, 0.75))),
    Event("b2", "B", 5, 11),
    Event("c1", "C", 6, 13),
    Event("c2", "C", 8, 10),
)


def shifted(by: int) -> Callable[[Event], Event]:
    return lambda event: moved(event, by)


@pytest.mark.parametrize("place", [*PLACES.values(), 2**53 - 5, -(2**60), 2**61 - 5])
@pytest.mark.parametrize("name", SMALL)
def test_where_in_time_events_lie_changes_no_bit_of_a_confidence(name: str, place: int) -> None:
    plan = plan_of(SMALL[name].query)
    here = rows_by_signature(match_events(plan, event_table(EVENTS)))
    there = rows_by_signature(match_events(plan, event_table(map(shifted(place), EVENTS))))
    assert here
    assert here == {
        signature: {**row, "start": row["start"] - place, "end": row["end"] - place}
        for signature, row in there.items()
    }


@pytest.mark.parametrize("name", SMALL)
def test_an_event_at_the_other_end_of_time_changes_no_row_that_it_has_no_part_in(name: str) -> None:
    plan = plan_of(SMALL[name].query)
    here = match_events(plan, event_table(map(shifted(PLACES["end"]), EVENTS)))
    far = [Event("z", "C", -END, -END), Event("w", "Z", -END, END - 20)]
    both = [*map(shifted(PLACES["end"]), EVENTS), *far]
    if "contiguity" in name:
        both = both[:-1]
    there = match_events(plan, event_table(both))
    assert rows_by_signature(here) == rows_by_signature(there)
