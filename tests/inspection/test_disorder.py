"""Ties, missing times and files that are not in the order of time."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.inspection.disorder import FileOrder, Ties, file_orders, simultaneous, ties, type_facts
from tests.inspection.observations import observed


def in_file(source: str, times: list[int | None], first: int = 1) -> list[dict[str, object]]:
    return [
        {"source": source, "event_id": f"{source}#{number}", "time": time, "lower": 0, "upper": 0}
        for number, time in enumerate(times, first)
    ]


def test_ties_are_counted_within_a_type_and_across_types() -> None:
    times: dict[str, list[int | None]] = {"A": [1, 1, 2, 3], "B": [3, 4, None], "C": [4, 4]}
    rows = [
        {"event_type": kind, "time": time, "lower": 0, "upper": 0}
        for kind, each in times.items()
        for time in each
    ]
    events = observed(rows)
    found = type_facts(events, simultaneous(events))
    facts = {f.event_type: (f.events, f.untimed, f.tied, f.tied_across) for f in found}
    assert facts == {"A": (4, 0, 2, 1), "B": (3, 1, 0, 2), "C": (2, 0, 2, 2)}
    assert ties(simultaneous(observed(rows))) == Ties(timed=8, tied=7)


def test_an_event_is_late_when_the_file_has_a_later_one_before_it() -> None:
    rows = in_file("x", [10, 40, 20, 30, 40, 5])
    assert file_orders(observed(rows)) == (FileOrder("x", numbered=6, late=3, worst_microseconds=35),)


def test_numbers_are_compared_as_numbers() -> None:
    rows = in_file("x", list(range(1, 13)))
    assert file_orders(observed(rows[::-1])) == (FileOrder("x", 12, 0, 0),)


def test_each_file_has_an_order_of_its_own_and_the_worst_comes_first() -> None:
    rows = [*in_file("a", [5, 6]), *in_file("b#1", [2, None, 1])]
    assert file_orders(observed(rows)) == (FileOrder("b#1", 2, 1, 1), FileOrder("a", 2, 0, 0))


def test_ids_that_the_log_gave_tell_no_order() -> None:
    rows = [{"event_id": name, "source": "x", "time": 1} for name in ("e1", "y#1", "x#one", "x")]
    assert file_orders(observed(rows)) == ()


@settings(deadline=None)
@given(st.lists(st.sampled_from("AB"), max_size=6), st.data())
def test_ties_are_those_of_a_count_by_hand(kinds: list[str], data: st.DataObject) -> None:
    times = [data.draw(st.none() | st.integers(0, 3)) for _ in kinds]
    rows = [
        {"event_type": kind, "time": time, "lower": 0, "upper": 0}
        for kind, time in zip(kinds, times, strict=True)
    ]
    seen = Counter(time for time in times if time is not None)
    tied = sum(count for count in seen.values() if count > 1)
    assert ties(simultaneous(observed(rows))) == Ties(sum(seen.values()), tied)
