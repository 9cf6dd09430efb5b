"""The worked numbers of shared clocks: two clocks, n and m, and an event without one."""

from __future__ import annotations

from fractions import Fraction

from cepctl.clocks.shared import Clocks
from tests.plans import Event, on

CLOCKS: Clocks = {"n": ((-2, 2, 1.0),), "m": ((-1, 1, 1.0),)}
READINGS = (
    on("n", CLOCKS, Event("a", "A", 1, 1)),
    on("n", CLOCKS, Event("b", "B", 3, 3)),
    Event("c", "C", 2, 6),
    on("m", CLOCKS, Event("d", "D", 4, 4)),
)
JITTERY = (
    on("n", CLOCKS, Event("a", "A", 1, 4)),
    on("n", CLOCKS, Event("b", "B", 2, 5)),
    Event("c", "C", 2, 6),
)

Example = tuple[str, tuple[Event, ...], str, tuple[int, int, Fraction]]

EXAMPLES: list[Example] = [
    ("SEQ(A a, B b)", READINGS, "a b", (-1, 5, Fraction(1))),
    ("SEQ(A a, C c)", READINGS, "a c", (-1, 6, Fraction(22, 25))),
    ("SEQ(A a, B b, C c)", READINGS, "a b c", (-1, 6, Fraction(3, 5))),
    ("SEQ(A a, B b, C c) WITHIN 4 ticks", READINGS, "a b c", (-1, 6, Fraction(1, 5))),
    ("SEQ(A a, B b, D d)", READINGS, "a b d", (-1, 5, Fraction(3, 5))),
    ("SEQ(A a, B b, D d) WITHIN 4 ticks", READINGS, "a b d", (0, 5, Fraction(1, 5))),
    ("SEQ(A a, !B b, C c)", READINGS[:3], "a c", (0, 5, Fraction(7, 25))),
    ("SEQ(A a, C c) STRATEGY strict_contiguity", READINGS, "a c", (0, 5, Fraction(19, 75))),
    ("SEQ(A a, B b)", JITTERY, "a b", (-1, 7, Fraction(5, 8))),
    ("SEQ(A a, B b, C c)", JITTERY, "a b c", (-1, 6, Fraction(103, 400))),
    ("SEQ(A a, B b, C c) WITHIN 4 ticks", JITTERY, "a b c", (-1, 6, Fraction(21, 200))),
]
"""Pattern with its clauses, events, signature, time range and confidence."""

INDEPENDENT: list[tuple[str, str, tuple[int, int, Fraction]]] = [
    ("SEQ(A a, B b)", "a b", (-1, 5, Fraction(19, 25))),
    ("SEQ(A a, C c)", "a c", (-1, 6, Fraction(22, 25))),
    ("SEQ(A a, B b, C c)", "a b c", (-1, 6, Fraction(49, 125))),
    ("SEQ(A a, B b, C c) WITHIN 4 ticks", "a b c", (-1, 6, Fraction(13, 125))),
    ("SEQ(A a, B b, D d)", "a b d", (-1, 5, Fraction(28, 75))),
    ("SEQ(A a, B b, D d) WITHIN 4 ticks", "a b d", (0, 5, Fraction(3, 25))),
    ("SEQ(A a, !B b, C c)", "a c", (-1, 6, Fraction(61, 125))),
    ("SEQ(A a, C c) STRATEGY strict_contiguity", "a c", (-1, 6, Fraction(139, 375))),
]
"""The same intervals, each event on its own."""
