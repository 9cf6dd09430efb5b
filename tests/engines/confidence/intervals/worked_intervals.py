"""Worked examples of interval events: the pattern, and what the row must be, counted over all worlds.

`a` starts at 0..4 and ends at 3..8: 29 of 30 pairs are left.  `b` starts at 2..5 and ends at 6..9: 16 pairs.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from tests.plans import Event, lasting


class Row(NamedTuple):
    """Start, end and confidence of the only row."""

    start: int
    end: int
    confidence: Fraction


A = lasting("a", "A", (0, 4), (3, 8))
B = lasting("b", "B", (2, 5), (6, 9))
KNOWN_LENGTH = lasting("a", "A", (0, 4), (4, 8), length=(4, 4))
POINT = Event("q", "Q", 2, 6)


def _of(places: int, whole: int, start: int = 0, end: int = 9) -> Row:
    return Row(start, end, Fraction(places, whole))


BOTH: dict[str, Row | None] = {
    "SEQ(A a, B b)": _of(52, 464),
    "A a BEFORE B b": _of(52, 464),
    "A a MEETS B b": _of(48, 464),
    "A a MEETS B b TOLERANCE 1 tick": _of(89, 464),
    "A a OVERLAPS B b": _of(148, 464),
    "A a OVERLAPS B b TOLERANCE 1 tick": _of(35, 464),
    "A a OVERLAPS B b WITHIN 8 ticks": _of(98, 464),
    "A a STARTS B b": _of(50, 464, 2),
    "A a DURING B b": _of(46, 464, 2),
    "A a FINISHES B b": _of(9, 464, 2, 8),
    "A a EQUALS B b": _of(9, 464, 2, 8),
    "A a STARTED_BY B b": _of(9, 464, 2, 8),
    "A a OVERLAPPED_BY B b": _of(9, 464, 2, 8),
    "A a CONTAINS B b": _of(42, 464, 0, 8),
    "A a FINISHED_BY B b": _of(42, 464, 0, 8),
    "A a AFTER B b": None,
    "A a MET_BY B b": None,
    "A a INTERSECTS B b": _of(356, 464),
    "A a INTERSECTS B b BY 3 ticks": _of(160, 464),
    "A a INTERSECTS B b WHERE a.end - a.start >= 5 ticks": _of(156, 464),
    "A a OVERLAPS|DURING B b": _of(194, 464),
    "OR(ISEQ(A a, B b), ISEQ(A a, B d)) WHERE a BEFORE b AND a BEFORE|MEETS d": _of(100, 464),
    "ISEQ(A a, B b) WHERE a.start < b.start AND b.start < a.end AND a.end < b.end": _of(148, 464),
    "ISEQ[A^- < B^- < A^+ < B^+](A, B; 10)": _of(148, 464),
}
WITH_A_KNOWN_LENGTH: dict[str, Row | None] = {
    "A a BEFORE B b": _of(1, 20),
    "A a OVERLAPS B b": _of(17, 40),
    "A a INTERSECTS B b": _of(17, 20),
}
OF_A_POINT: dict[str, Row | None] = {
    "Q q DURING A a": _of(68, 145, 0, 8),
    "Q q STARTS A a": _of(15, 145, 2, 8),
    "Q q FINISHES A a": _of(17, 145, 0, 6),
    "Q q EQUALS A a": _of(2, 145, 3, 4),
}
ON_ONE_DAY = (lasting("a", "A", (0, 3), (0, 3)), lasting("b", "B", (0, 3), (0, 3)))
OF_ONE_DAY: dict[str, Row | None] = {
    "A a INTERSECTS B b": _of(17, 50, 0, 3),
    "A a BEFORE B b": _of(3, 20, 0, 3),
    "A a OVERLAPS B b": _of(1, 100, 0, 3),
}
N = lasting("n", "N", (3, 5), (5, 7))
BETWEEN = (
    lasting("a", "A", (0, 1), (1, 3)),
    lasting("n", "N", (2, 4), (4, 6)),
    lasting("b", "B", (5, 6), (8, 9)),
)
ABSENT: list[tuple[str, tuple[Event, ...], Row | None]] = [
    ("ISEQ(A a, !N n) WHERE n INTERSECTS a", (A, N), _of(9, 29, 0, 5)),
    ("SEQ(A a, !N n, B b)", BETWEEN, _of(2, 3)),
]
CASES = [
    *ABSENT,
    *((query, (A, B), row) for query, row in BOTH.items()),
    *((query, (KNOWN_LENGTH, B), row) for query, row in WITH_A_KNOWN_LENGTH.items()),
    *((query, (A, POINT), row) for query, row in OF_A_POINT.items()),
    *((query, ON_ONE_DAY, row) for query, row in OF_ONE_DAY.items()),
]

LI10 = "PATTERN ISEQ[A^- < B^+ < C^+ < D^+](A, B, C, D; {window})"
"""Example 5.4 of Li10; the events are given by id: start and end."""
LI10_EVENTS = {
    "b3": (3, 6), "d6": (6, 10), "b9": (9, 11), "c4": (4, 12), "a7": (7, 14), "d9": (9, 15), "a8": (8, 16),
}  # fmt: skip


def li10_events(width: int = 0) -> tuple[Event, ...]:
    """The events of Example 5.4, every end known to `width` ticks on either side."""
    return tuple(
        lasting(name, name[0].upper(), (start, start), (end - width, end + width))
        for name, (start, end) in LI10_EVENTS.items()
    )
