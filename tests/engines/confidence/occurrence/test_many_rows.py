"""Keys of more rows than a machine word has bits: rows that share but few events are sets of their own."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from cepctl.engines.confidence.occurrence import occurrence
from cepctl.engines.event.match import match_events
from cepctl.errors import QueryTooLargeError
from tests.plans import Event, event_table, plan_of

WINDOW = 6
STARTS = [(7 * number) % 41 for number in range(90)]
"""Each B is somewhere in four ticks from here."""


def _occurrence(query: str, events: list[Event]) -> float:
    (row,) = match_events(plan_of(query), event_table(tuple(events))).to_pylist()
    return float(row["occurrence"])


def _others(kind: str, count: int) -> list[Event]:
    return [Event(f"{kind}{n}", kind.upper(), begin, begin + 3) for n, begin in enumerate(STARTS[:count])]


def _none_follows(ticks: tuple[int, ...], count: int) -> float:
    """The probability that no B follows any of these ticks within the window."""
    free = np.ones(count)
    for n, begin in enumerate(STARTS[:count]):
        free[n] = np.mean([not any(t < at < t + WINDOW for t in ticks) for at in range(begin, begin + 4)])
    return float(free.prod())


@pytest.mark.parametrize("count", [64, 65, 90])
def test_one_event_before_any_of_many(count: int) -> None:
    query = f"PATTERN SEQ(A a, B b) WITHIN {WINDOW} ticks GROUP BY ()"
    expected = np.mean([1 - _none_follows((t,), count) for t in range(60)])
    found = _occurrence(query, [Event("a", "A", 0, 59), *_others("b", count)])
    assert found == pytest.approx(expected, rel=1e-12)


def test_either_of_two_events_before_any_of_many() -> None:
    """A B that both may precede is shared by two rows; the others are not."""
    query = f"PATTERN SEQ(A a, B b) WITHIN {WINDOW} ticks GROUP BY ()"
    pairs = product(range(30, 45), range(38, 60))
    expected = np.mean([1 - _none_follows(pair, 90) for pair in pairs])
    events = [Event("a0", "A", 30, 44), Event("a1", "A", 38, 59), *_others("b", 90)]
    assert _occurrence(query, events) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("count", [4, 5])
def test_many_rows_of_few_events_of_three_types(count: int) -> None:
    """Some B is between the first A and the last C: a sum over both says it."""
    kinds = [[Event(f"{k}{n}", k.upper(), 3 * at + n, 3 * at + n + 3) for n in range(count)]
             for at, k in enumerate("abc")]  # fmt: skip
    chance = np.array([[[e.lower <= t <= e.upper for t in range(30)] for e in own] for own in kinds]) / 4
    before, behind = np.cumsum(chance[0], axis=1), np.cumsum(chance[2], axis=1)
    first, last = (
        np.diff(1 - np.prod(1 - before, axis=0), prepend=0),
        np.diff(np.prod(behind, axis=0), prepend=0),
    )
    some = [[1 - np.prod(1 - chance[1][:, m + 1 : t].sum(axis=1)) for t in range(30)] for m in range(30)]
    expected = float(first @ np.array(some) @ last)
    events = [each for own in kinds for each in own]
    assert _occurrence("PATTERN SEQ(A a, B b, C c) GROUP BY ()", events) == pytest.approx(expected, abs=1e-12)


def test_what_takes_too_much_is_refused_with_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurrence, "WORK_BOUND", 10_000)
    events = [
        Event("a", "A", 0, 300),
        *(Event(f"{k}{n}", k.upper(), 0, 300 + n) for k in "bc" for n in range(9)),
    ]
    asked = "PATTERN SEQ(A a, B b, C c) WITHIN 90 ticks GROUP BY ()"
    with pytest.raises(
        QueryTooLargeError, match=r"81 rows with 10 events in common \(separators\) need more"
    ):
        match_events(plan_of(asked), event_table(tuple(events)))


def test_a_hundred_rows_of_five_and_five_events() -> None:
    early = [Event(f"a{n}", "A", begin, begin + 10) for n, begin in enumerate((0, 2, 1, 2, 2))]
    late = [Event(f"b{n}", "B", *ends) for n, ends in enumerate(((9, 9), (9, 9), (9, 9), (6, 16), (8, 11)))]
    found = _occurrence("PATTERN SEQ(A a, A b, B c) WITHIN 3 ticks GROUP BY ()", [*early, *late])
    assert found == pytest.approx(447078 / 1771561, abs=1e-12)


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        ("SEQ(A a, A b, B c) WITHIN 3 ticks", "AAAAABBBBB"),
        ("SEQ(A a, A b, B c) WITHIN 300 ticks", "AAAAABBBBB"),
    ],
)
def test_what_takes_many_times_its_bound_is_refused_long_before_it(
    asked: str, kinds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused, why = [], occurrence.Occurrences.why

    def told(found: occurrence.Occurrences, group: int) -> str:
        refused.append(int(found.products[group]))
        return why(found, group)

    monkeypatch.setattr(occurrence.Occurrences, "why", told)
    events = tuple(Event(f"{kind}{n}", kind, 0, 1000) for n, kind in enumerate(kinds))
    with pytest.raises(QueryTooLargeError, match=f"need more than {occurrence.WORK_BOUND:,} products"):
        match_events(plan_of(f"PATTERN {asked} GROUP BY ()"), event_table(events))
    assert refused[0] <= occurrence.WORK_BOUND / 4


@pytest.mark.parametrize("bound", [41_000_000, 50_000_000])
def test_what_takes_nearly_its_bound_is_answered(bound: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurrence, "WORK_BOUND", bound)
    test_a_hundred_rows_of_five_and_five_events()
