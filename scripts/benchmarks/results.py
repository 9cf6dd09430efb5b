"""What a part of the bench hands back: rows with a time, a ratio against something and a goal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


class CheckFailed(Exception):
    """A part computed something else than it must; its times say nothing."""


@dataclass(frozen=True)
class Setup:
    """How the parts run: `quick` is a smaller size of everything, `folder` is theirs to write to.

    `repeats` counts the timed runs after one warm-up.  `shrink` divides the numbers of events.
    """

    folder: Path
    cores: int
    repeats: int
    quick: bool = False
    shrink: int = 1

    def events(self, full: int, quick: int) -> int:
        """How many events a case takes: whole thousands, the period of the values."""
        wanted = (quick if self.quick else full) // self.shrink
        return max(wanted // 1000 * 1000, 2_000)


@dataclass(frozen=True)
class Timing:
    """Median seconds on the clock and of processor time, and what the last run returned how many of."""

    seconds: float
    cpu_seconds: float
    runs: int


@dataclass(frozen=True)
class Goal:
    """What a ratio or a figure is to reach."""

    sense: Literal["at most", "at least"]
    limit: float

    def met(self, figure: float) -> bool:
        """Whether a figure reaches it."""
        return figure <= self.limit if self.sense == "at most" else figure >= self.limit

    def __str__(self) -> str:
        """As the table shows it."""
        return f"{self.sense} {self.limit:,g}"


@dataclass(frozen=True)
class Row:
    """One case.

    `count` is how many `unit` it handled; `ratio` its time against what `against` names, or whatever
    else `against` says; `goal` speaks of the ratio, `rate_goal` of the count per second.  `checked`
    says what held the result.  `series` and `x` place the row in the plot of its part.
    """

    case: str
    timing: Timing | None = None
    count: int = 0
    unit: str = "matches"
    ratio: float | None = None
    against: str = ""
    goal: Goal | None = None
    rate_goal: Goal | None = None
    checked: str = ""
    series: str = ""
    x: float | None = None
    note: str = ""

    @property
    def rate(self) -> float | None:
        """How many per second."""
        return self.count / self.timing.seconds if self.timing and self.count else None

    @property
    def seconds_each(self) -> float:
        """Seconds for one of what it counts."""
        assert self.timing is not None
        return self.timing.seconds / self.count


@dataclass(frozen=True)
class Plot:
    """Axes of a part's picture; `y` is which figure of a row is drawn."""

    x: str
    y: Literal["seconds", "ratio", "microseconds each"]
    logarithmic: bool = True


@dataclass(frozen=True)
class Part:
    """Some cases that belong together; `name` is what --only takes."""

    name: str
    title: str
    run: Callable[[Setup], Iterator[Row]]
    plot: Plot | None = None


def left_out(case: str, peer: str) -> Row:
    """The row of a case whose peer is not installed."""
    return Row(case, note=f"left out: {peer} is not installed")


def check_equal(what: str, found: object, expected: object) -> None:
    """Raise CheckFailed unless both are the same."""
    if found != expected:
        raise CheckFailed(f"{what}: found {found}, expected {expected}")


def check_close(what: str, found: float, expected: float, relative: float = 1e-9) -> None:
    """Raise CheckFailed unless both agree to a relative error."""
    if not abs(found - expected) <= relative * max(abs(expected), 1.0):
        raise CheckFailed(f"{what}: found {found!r}, expected {expected!r}")
