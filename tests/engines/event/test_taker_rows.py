"""Rows of a summary whose groups rise in one value under next match, by a sum over takers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.engines.confidence.occurrence.occurrence import Occurrences
from cepctl.engines.event import listed_summary, taker_rows
from cepctl.engines.event.group_occurrences import measured_clauses
from cepctl.engines.event.listed_summary import ListedSummary
from cepctl.engines.event.taker_rows import TakerRows
from tests.engines.agreement import EXAMPLES, check
from tests.engines.event.test_kleene_summary import agrees_with_the_judge, members_of, summarised
from tests.plans import Event
from tests.random_events import streams
from tests.random_patterns import NEXT
from tests.strategies import Case

RISING = f"PATTERN SEQ(A a, B+ b[], C c) WHERE b[i].x > b[i-1].x STRATEGY {NEXT}"
VALUES = (17, 72, 97, 8, 32, 15, 63, 97)


@pytest.fixture
def few_by_takers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let takers tell rows of few groups, too."""
    monkeypatch.setattr(listed_summary, "FEW_TOGETHER", 0)


def readings(count: int, width: int = 15) -> list[Event]:
    """Readings every 10 ticks, each so many ticks off at most, between an A and a C."""
    found = [
        Event(f"b{n}", "B", 20 + 10 * n - width, 20 + 10 * n + width, x=VALUES[n % len(VALUES)])
        for n in range(count)
    ]
    end = 40 + 10 * count
    return [Event("a", "A", 0, 0, x=0), *found, Event("c", "C", end, end, x=0)]


@st.composite
def rising_cases(draw: st.DrawFn) -> Case:
    """A group in the order of a value, which may be missing, beside rivals of what ends it."""
    order = draw(st.sampled_from(["b[i].x > b[i-1].x", "b[i].x <= b[i-1].x", "b[i].x >= max(b[1..i-1].x)"]))
    more = draw(st.sampled_from(["", "", " AND [k]", " AND b[i].x >= a.x", " AND c.x <> a.x"]))
    behind = draw(st.sampled_from(["C", "C", "C", "B|C"]))
    window = draw(st.sampled_from(["", "", " WITHIN 5 ticks", " WITHIN 7 ticks"]))
    query = f"PATTERN SEQ(A a, B+ b[], {behind} c) WHERE {order}{more} STRATEGY {NEXT}{window}"
    return Case(query, draw(streams(["A", "B", "B", "B", "C", "C"], 400)))


@pytest.mark.usefixtures("few_by_takers")
def test_a_sum_over_takers_says_what_the_worlds_say() -> None:
    check(rising_cases(), agrees_with_the_judge, EXAMPLES)


@pytest.mark.usefixtures("few_by_takers")
def test_a_sum_over_takers_says_what_the_union_of_groups_says(monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = summarised(RISING, *readings(4))
    asked = ListedSummary._takers
    monkeypatch.setattr(ListedSummary, "_takers", None)
    (union,) = summarised(RISING, *readings(4))
    assert asked is not None
    assert row["confidence"] == pytest.approx(union["confidence"], rel=1e-12)
    assert members_of(row) == pytest.approx(members_of(union), rel=1e-9)


def test_ten_readings_that_overlap_are_answered() -> None:
    """Their groups share too much for the probability of a union."""
    (row,) = summarised(RISING, *readings(10))
    assert row["confidence"] == pytest.approx(1.0, rel=1e-12)
    # What is far behind does not change who took before.
    (few,) = summarised(RISING, *readings(6))
    assert members_of(row)["b0"] == pytest.approx(members_of(few)["b0"], rel=1e-12)


def test_few_groups_are_told_by_their_union(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()

    def counted(self: TakerRows, before: int, behind: int, members: Any) -> Any:
        asked.append(len(members))
        return told(self, before, behind, members)

    told = TakerRows.probabilities
    monkeypatch.setattr(TakerRows, "probabilities", counted)
    summarised(RISING, *readings(3))
    assert not asked
    summarised(RISING, *readings(8))
    assert asked == [8]


def test_few_groups_whose_union_is_too_costly_are_told_by_takers(monkeypatch: pytest.MonkeyPatch) -> None:
    (union,) = summarised(RISING, *readings(3))

    def costly(*_: Any) -> Occurrences:
        found = measured_clauses(*_)
        return replace(found, probability=np.full(len(found.probability), np.nan))

    monkeypatch.setattr(listed_summary, "measured_clauses", costly)
    (row,) = summarised(RISING, *readings(3))
    assert row["confidence"] == pytest.approx(union["confidence"], rel=1e-12)
    assert members_of(row) == pytest.approx(members_of(union), rel=1e-9)


@pytest.mark.usefixtures("few_by_takers")
def test_what_takes_too_long_is_left_to_the_union(monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = summarised(RISING, *readings(4))
    monkeypatch.setattr(taker_rows, "MOST_STEPS", 10)
    (union,) = summarised(RISING, *readings(4))
    assert members_of(row) == pytest.approx(members_of(union), rel=1e-9)
