"""Events and queries about what is given, whose confidences were counted by hand over all worlds."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from cepctl.clocks.shared import Clocks
from tests.plans import Event, on

TASK = (
    Event("s", "S", 1, 4, k="m"),
    Event("f", "F", 2, 5, k="m"),
    Event("x", "X", 3, 3),
)
STARTS_FIRST = "GIVEN SEQ(S s, F f) IF s.k = f.k"
SAMPLES = (
    *(Event(f"x{i}", "X", 3 * i, 3 * i + 4, g="n") for i in range(4)),
    Event("a", "A", 5, 5),
    Event("b", "B", 7, 7),
)
IN_LOGGED_ORDER = "GIVEN SEQ(X p, X q) IF p.g = q.g AND p.lower < q.lower"
N: Clocks = {"n": ((-4, 4, 1.0),)}
SENT = (
    on("n", N, Event("s", "S", 10, 10, k="m")),
    on("n", N, Event("a", "A", 20, 20)),
    Event("r", "R", 11, 11, k="m"),
    Event("b", "B", 19, 19),
)


@dataclass(frozen=True)
class Worked:
    """A query over events, and what it returns: signature -> confidence, or with its range."""

    query: str
    events: tuple[Event, ...]
    returned: dict[str, Fraction | tuple[int, int, Fraction]]
    clocks: Clocks = field(default_factory=dict)


WORKED = (
    Worked("PATTERN SEQ(S s, F f)", TASK, {"s f": Fraction(5, 8)}),
    Worked(f"PATTERN SEQ(S s, F f) {STARTS_FIRST}", TASK, {"s f": Fraction(1)}),
    Worked(f"PATTERN SEQ(S s, X x) {STARTS_FIRST}", TASK, {"s x": Fraction(7, 10)}),
    Worked(f"PATTERN SEQ(X x, F f) {STARTS_FIRST}", TASK, {"x f": Fraction(7, 10)}),
    Worked(f"PATTERN SEQ(S s, X x, F f) {STARTS_FIRST}", TASK, {"s x f": Fraction(2, 5)}),
    Worked(
        "PATTERN SEQ(S s, X x, F f) GIVEN SEQ(S s, F f) WITHIN 3 ticks IF s.k = f.k",
        TASK,
        {"s x f": (2, 4, Fraction(1, 7))},
    ),
    Worked("PATTERN SEQ(F f, X x)", TASK, {"f x": Fraction(1, 4)}),
    Worked(f"PATTERN SEQ(F f, X x) {STARTS_FIRST}", TASK, {"f x": (2, 3, Fraction(1, 10))}),
    Worked("PATTERN SEQ(A a, X x, B b)", SAMPLES, {"a x1 b": Fraction(1, 5), "a x2 b": Fraction(1, 5)}),
    Worked(
        f"PATTERN SEQ(A a, X x, B b) {IN_LOGGED_ORDER}",
        SAMPLES,
        {"a x1 b": Fraction(85, 409), "a x2 b": Fraction(60, 409)},
    ),
    Worked(
        f"PATTERN SEQ(A a, X x) WITHIN 3 ticks {IN_LOGGED_ORDER}",
        (Event("a", "A", 0, 0), Event("x0", "X", 2, 3, g="n"), Event("x1", "X", 3, 4, g="n")),
        {"a x0": Fraction(2, 3)},
    ),
)
ON_CLOCKS = (
    Worked("PATTERN SEQ(A a, B b)", SENT, {"a b": Fraction(1, 3)}, N),
    Worked("PATTERN SEQ(A a, B b) GIVEN SEQ(S s, R r) IF s.k = r.k", SENT, {"a b": Fraction(3, 5)}, N),
)
IMPOSSIBLE = (Event("s", "S", 5, 6, k="m"), Event("f", "F", 2, 4, k="m"))
