"""The judge with shared clocks: worlds counted by hand, in rationals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.worlds.engine import exact_matches
from cepctl.errors import EventSchemaError, QueryTooLargeError
from tests.engines.clock_examples import CLOCKS, EXAMPLES, INDEPENDENT, READINGS
from tests.plans import Event, event_table, on, plan_of


def found(
    query: str, events: tuple[Event, ...], clocks: Clocks | None
) -> dict[str, tuple[int, int, Fraction]]:
    matches = exact_matches(plan_of(query, clocks), event_table(events))
    return {
        " ".join("+".join(ids) for ids in signature): (match.start, match.end, match.confidence)
        for signature, match in matches.items()
    }


@pytest.mark.parametrize(("pattern", "events", "signature", "expected"), EXAMPLES)
def test_worked_numbers_of_shared_clocks(
    pattern: str, events: tuple[Event, ...], signature: str, expected: tuple[int, int, Fraction]
) -> None:
    assert found(f"PATTERN {pattern}", events, CLOCKS)[signature] == expected


@pytest.mark.parametrize(("pattern", "signature", "expected"), INDEPENDENT)
def test_the_same_intervals_without_clocks(
    pattern: str, signature: str, expected: tuple[int, int, Fraction]
) -> None:
    alone = tuple(replace(event, clock=None) for event in READINGS)
    assert found(f"PATTERN {pattern}", alone, None)[signature] == expected


def test_a_histogram_of_an_event_is_that_of_its_own_part() -> None:
    clocks: Clocks = {"n": ((0, 0, 0.25), (10, 10, 0.75))}
    late = on("n", clocks, Event("a", "A", 1, 3, ((1, 1, 0.5), (3, 3, 0.5))))
    assert found("PATTERN SEQ(A a, B b)", (late, Event("b", "B", 12, 12)), clocks) == {
        "a b": (1, 12, Fraction(1, 4) + Fraction(3, 8))
    }


def test_an_event_narrower_than_its_clock_is_an_error() -> None:
    event = replace(on("n", CLOCKS, Event("a", "A", 1, 1)), upper=2)
    with pytest.raises(
        EventSchemaError, match="'a' has an interval narrower than the offset of its clock 'n'"
    ):
        found("PATTERN SEQ(A a)", (event,), CLOCKS)


def test_a_clock_without_an_offset_is_an_error() -> None:
    with pytest.raises(EventSchemaError, match="clock 'n' has no offset"):
        found("PATTERN SEQ(A a)", READINGS, {"m": CLOCKS["m"]})


def test_offsets_count_as_worlds() -> None:
    clocks: Clocks = {"n": ((0, 99_999, 1.0),)}
    with pytest.raises(QueryTooLargeError, match="200,000 possible worlds"):
        found("PATTERN SEQ(A a)", (on("n", clocks, Event("a", "A", 1, 2)),), clocks)
