"""Groups that are others moved in time are measured once, with the numbers that each would have had."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from cepctl.engines.confidence.occurrence import settled as module
from cepctl.engines.event import group_occurrences
from cepctl.engines.event.match import match_events
from cepctl.engines.rows.groups import groups_in_order
from tests.plans import Event, event_table, plan_of


def keys(random: Random, count: int, shapes: int = 12) -> Iterator[Event]:
    """A few events for each key, stamped at few distances, some with histograms."""
    kinds = [
        [(kind, random.randrange(6), random.choice([0, 5, 9])) for kind in "AABBN"] for _ in range(shapes)
    ]
    for number in range(count):
        begin = 40 * number
        for at, (kind, after, wide) in enumerate(random.choice(kinds)):
            tick = begin + after
            histogram = ((tick, tick + 1, 0.25), (tick + 3, tick + wide, 0.75)) if wide > 5 else None
            yield Event(f"{number:03}{at}", kind, tick, tick + wide, k=str(number), pmf=histogram)


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """How many groups there were, and how many of them differ, each time that they were looked at."""
    found: list[tuple[int, int]] = []

    def told(*arguments: object) -> object:
        first = module.moved_groups(*arguments)  # type: ignore[arg-type]
        if first is not None:
            found.append((len(first), len(np.unique(first))))
        return first

    monkeypatch.setattr(module, "_FEWEST", 1)
    monkeypatch.setattr(group_occurrences, "moved_groups", told)
    return found


@pytest.mark.parametrize(
    ("query", "repeated"),
    [
        ("SEQ(A a, B b) WHERE [k]", True),
        ("SEQ(A a, B b) WHERE [k] WITHIN 6 ticks", True),
        ("SEQ(A a, !N n, B b) WHERE [k]", True),
        ("SEQ(A a, B b) WHERE [k] STRATEGY skip_till_next_match", True),
        ("SEQ(A a, B b) WHERE [k] AND b.time >= '1970-01-01T00:00:00.003Z'", False),
    ],
)
def test_keys_are_as_probable_as_where_each_is_measured(
    query: str, repeated: bool, looked_at: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, table = plan_of(f"PATTERN {query} GROUP BY a.k"), event_table(list(keys(Random(4), 120)))
    found = match_events(plan, table)
    assert len(looked_at) == repeated
    assert all(groups > 40 and different < groups // 2 for groups, different in looked_at)
    monkeypatch.setattr(group_occurrences, "moved_groups", lambda *_: None)
    each = match_events(plan, table)
    assert groups_in_order(found, 1).equals(groups_in_order(each, 1))


def test_masses_limits_and_the_order_of_ids_tell_groups_apart(looked_at: list[tuple[int, int]]) -> None:
    """Of six keys that begin alike the last but one has other ids, and each other one differs in a mass."""
    events = [
        *(Event(f"a{n}{k}", "A", 100 * k + n, 100 * k + 5, k=str(k)) for k in range(6) for n in (0, 1)),
        *(Event(f"b{k}", "B", 100 * k + 3, 100 * k + 9, k=str(k)) for k in range(6)),
    ]
    plan = plan_of("PATTERN SEQ(A a, B b) WHERE [k] GROUP BY a.k")
    match_events(plan, event_table(events))
    assert looked_at.pop() == (6, 1)
    events[2] = replace(events[2], upper=106)
    events[4] = replace(events[4], pmf=((200, 202, 0.5), (203, 205, 0.5)))
    events[6] = replace(events[6], pmf=((300, 302, 0.4), (303, 305, 0.6)))
    events[8] = replace(events[8], event_id="z")
    match_events(plan, event_table(events))
    assert looked_at.pop() == (6, 5)


def test_groups_that_seldom_repeat_are_not_looked_through(
    looked_at: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Widths tell them apart."""
    monkeypatch.setattr(module, "_TRIED", 16)
    events = [
        event
        for k in range(20)
        for event in (
            Event(f"a{k}", "A", 300 * k, 300 * k + 9 + k, k=str(k)),
            Event(f"b{k}", "B", 300 * k + 4, 300 * k + 9, k=str(k)),
            Event(f"c{k}", "B", 300 * k + 5, 300 * k + 9, k=str(k)),
        )
    ]
    plan = plan_of("PATTERN SEQ(A a, B b) WHERE [k] GROUP BY a.k")
    assert match_events(plan, event_table(events)).num_rows == 20
    assert looked_at == []


def test_groups_that_differ_in_their_masses_are_not_looked_through(
    looked_at: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [
        event
        for k in range(20)
        for event in (
            Event(f"a{k}", "A", 30 * k, 30 * k + 9, k=str(k)),
            Event(f"b{k}", "B", 30 * k + 4, 30 * k + 9, k=str(k)),
            replace(
                Event(f"c{k}", "B", 30 * k + 5, 30 * k + 9, k=str(k)),
                pmf=((30 * k + 5, 30 * k + 6, (k + 1) / 50), (30 * k + 7, 30 * k + 9, 1 - (k + 1) / 50)),
            ),
        )
    ]
    plan = plan_of("PATTERN SEQ(A a, B b) WHERE [k] GROUP BY a.k")
    for tried in (16, 20):
        monkeypatch.setattr(module, "_TRIED", tried)
        assert match_events(plan, event_table(events)).num_rows == 20
        assert looked_at == []


def test_where_time_may_end_distances_are_not_all(looked_at: list[tuple[int, int]]) -> None:
    far = 2**61
    events = [
        event
        for k in range(3)
        for event in (
            Event(f"a{k}", "A", far + 30 * k, far + 30 * k + 9, k=str(k)),
            Event(f"b{k}", "B", far + 30 * k + 4, far + 30 * k + 9, k=str(k)),
            Event(f"c{k}", "B", far + 30 * k + 5, far + 30 * k + 9, k=str(k)),
        )
    ]
    plan = plan_of("PATTERN SEQ(A a, B b) WHERE [k] GROUP BY a.k")
    assert match_events(plan, event_table(events)).num_rows == 3
    assert looked_at == []
