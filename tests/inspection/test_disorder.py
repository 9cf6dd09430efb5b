"""Ties, missing times and files that are not in the order of time."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.inspection.disorder import FileOrder, SharedTimes, file_orders, simultaneous, ties, type_facts
from cepctl.schema import MILLISECOND
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
    assert ties(simultaneous(observed(rows))) == SharedTimes(timed=8, tied=7)


def test_an_event_is_late_when_the_file_has_a_later_one_before_it() -> None:
    rows = in_file("x", [10, 40, 20, 30, 40, 5])
    assert file_orders(observed(rows), MILLISECOND) == (
        FileOrder("x", numbered=6, late=3, worst_microseconds=35),
    )


def test_numbers_are_compared_as_numbers() -> None:
    rows = in_file("x", list(range(1, 13)))
    assert file_orders(observed(rows[::-1]), MILLISECOND) == (FileOrder("x", 12, 0, 0),)


def test_each_file_has_an_order_of_its_own_and_the_worst_comes_first() -> None:
    rows = [*in_file("a", [5, 6]), *in_file("b#1", [2, None, 1])]
    assert file_orders(observed(rows), MILLISECOND) == (FileOrder("b#1", 2, 1, 1), FileOrder("a", 2, 0, 0))


def test_ids_that_the_log_gave_tell_no_order() -> None:
    rows = [{"event_id": name, "source": "x", "time": 1} for name in ("e1", "y#1", "x#one", "x")]
    assert file_orders(observed(rows), MILLISECOND) == ()


def in_traces(*events: tuple[str | None, int]) -> list[dict[str, object]]:
    """A file x of events with these cases and times."""
    rows = in_file("x", [time for _, time in events])
    return [row | {"case_id": case} for row, (case, _) in zip(rows, events, strict=True)]


def test_a_file_that_is_written_trace_by_trace_is_judged_within_each_trace() -> None:
    ordered = in_traces(("c1", 50), ("c1", 60), ("c2", 10), ("c2", 10), ("c3", 5))
    assert file_orders(observed(ordered), MILLISECOND) == (
        FileOrder("x", 5, late=0, worst_microseconds=0, traces=3),
    )
    muddled = in_traces(("c1", 50), ("c1", 60), ("c2", 20), ("c2", 13), ("c3", 5))
    assert file_orders(observed(muddled), MILLISECOND) == (
        FileOrder("x", 5, late=1, worst_microseconds=7, traces=3),
    )


def test_cases_prove_no_order_by_trace_where_they_mix_or_have_one_event_each_or_are_missing() -> None:
    mixed = in_traces(("c1", 50), ("c2", 10), ("c1", 60))
    single = in_traces(("c1", 50), ("c2", 10), ("c3", 60))
    one = in_traces(("c1", 50), ("c1", 10), ("c1", 60))
    missing = in_traces(("c1", 50), ("c1", 60), (None, 10), (None, 60))
    for rows in (mixed, single, one, missing):
        (order,) = file_orders(observed(rows), MILLISECOND)
        assert (order.late, order.traces) == (1, 0)


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
    assert ties(simultaneous(observed(rows))) == SharedTimes(sum(seen.values()), tied)
