"""Large AND groups are answered, or refused with the number of their matches, before one is measured."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cepctl.engines.event import and_groups
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.errors import QueryTooLargeError
from tests.plans import Event, event_table, plan_of


def alike(count: int) -> list[Event]:
    return [Event(f"a{i:02}", "A", i, i + 8) for i in range(count)]


def query(types: Sequence[str], rest: str = "WITHIN 12 ticks") -> str:
    return f"PATTERN AND({', '.join(f'{kind} v{i}' for i, kind in enumerate(types))}) {rest}"


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """No match can be measured."""

    def measured(*_: object) -> None:
        raise AssertionError("a match was measured")

    monkeypatch.setattr(PreparedAlternative, "measured", measured)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    ("options", "allowed"),
    [(MatchOptions(approximate=0.1), "37,878"), (MatchOptions(max_matches=9), "9")],
)
def test_too_many_matches_of_twelve_are_refused_before_one_is_measured(
    options: MatchOptions, allowed: str
) -> None:
    """There are 12! of them, each measured by 12 * 11 sums."""
    with pytest.raises(QueryTooLargeError, match=rf"12 components .* {allowed} matches, .* 132 sums"):
        match_events(plan_of(query("A" * 12)), event_table(alike(12)), options)


@pytest.mark.usefixtures("unmeasured")
def test_a_group_beside_other_events_is_counted_with_them() -> None:
    events = [Event("b", "B", 0, 0), *alike(12), Event("c", "C", 30, 30)]
    group = f"AND({', '.join(f'A v{i}' for i in range(9))})"
    with pytest.raises(QueryTooLargeError, match=r"AND group of 9 components .* 69,444 matches"):
        match_events(plan_of(f"PATTERN SEQ(B b, {group})"), event_table(events))
    few = MatchOptions(max_matches=100_000)
    with pytest.raises(QueryTooLargeError, match=r"AND group of 9 components .* 100,000 matches;"):
        match_events(plan_of(f"PATTERN SEQ(B b, {group}, C c)"), event_table(events), few)


def test_twelve_that_are_told_apart_are_answered() -> None:
    events = [Event(f"e{i:02}", f"T{i}", i % 3, i % 3 + 4) for i in range(12)]
    (row,) = match_events(plan_of(query([f"T{i}" for i in range(12)])), event_table(events)).to_pylist()
    assert row["confidence"] == 1.0


def test_what_is_few_enough_is_answered_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, table = plan_of(query("AAAAA")), event_table(alike(5))
    monkeypatch.setattr(and_groups, "MOST_SUMS", 120 * 20)
    assert match_events(plan, table).num_rows == 120
    monkeypatch.setattr(and_groups, "MOST_SUMS", 119 * 20)
    with pytest.raises(QueryTooLargeError, match="more than 119 matches"):
        match_events(plan, table)


def test_the_most_probable_are_looked_for_among_as_many_as_may_be_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """How many reach a threshold that rises is known on the way, not before."""
    plan, table, best = plan_of(query("AAAAA")), event_table(alike(5)), MatchOptions(top=3)
    monkeypatch.setattr(and_groups, "MOST_SUMS", 119 * 20)
    with pytest.raises(QueryTooLargeError, match=r"AND group of 5 components .* more than 119 matches"):
        match_events(plan, table, best)
    monkeypatch.setattr(and_groups, "MOST_SUMS", 120 * 20)
    assert 3 <= match_events(plan, table, best).num_rows <= 120
