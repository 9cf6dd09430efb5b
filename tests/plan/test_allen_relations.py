"""The relations between interval events: in every world exactly one of the 13 holds (Allen 1983)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from cepctl.language.ast import Allen, Duration
from cepctl.language.keywords import ALLEN_RELATIONS, RELATIONS
from cepctl.language.parser import parse
from cepctl.plan.relations import related, relations_in_words
from cepctl.schema import MILLISECOND
from tests.engines.confidence.intervals import worked_intervals

TICKS = range(6)


def holds(relation: Allen, ends: dict[str, tuple[int, int]]) -> bool:
    def tick(name: str | None, at_end: bool) -> int:
        return 0 if name is None else ends[name][at_end]

    return any(
        all(tick(each.left, each.left_end) - tick(each.right, each.right_end) <= each.bound for each in case)
        for case in related(relation, MILLISECOND)
    )


def intervals() -> Iterator[tuple[int, int]]:
    yield from ((start, end) for start, end in product(TICKS, repeat=2) if start < end)


@pytest.mark.parametrize("tolerance", [None, Duration(None, 1)])
def test_exactly_one_holds_of_any_two_events(tolerance: Duration | None) -> None:
    """So several of them are cases that exclude each other, and their probabilities add up."""
    for a, b in product(intervals(), repeat=2):
        ends = {"a": a, "b": b}
        held = [word for word in ALLEN_RELATIONS if holds(Allen((word,), "a", "b", tolerance), ends)]
        assert len(held) == 1, (a, b, held)


@pytest.mark.parametrize("word", RELATIONS)
def test_each_is_told_in_words(word: str) -> None:
    query = parse(f"PATTERN AND(A a, B b) WHERE a {word.upper()} b WITHIN 9 ticks")
    (told,) = relations_in_words(query)
    assert told.startswith(f"a {word.upper()} b: ")


@pytest.mark.parametrize("word", RELATIONS)
def test_each_has_a_row_that_was_counted_by_hand(word: str) -> None:
    assert any(f"A a {word.upper()} B b" in pattern for pattern in worked_intervals.BOTH)
