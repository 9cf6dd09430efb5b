"""A first look at all rows of a host: what must be known before the first piece is cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from cepctl.clocks.logs.links import links_of
from cepctl.clocks.logs.steps import doubtful_rows, step_zones
from cepctl.clocks.logs.values import NONE, HostRows, joined_rows
from cepctl.io.clocks.contract import UNSYNCHRONISED
from cepctl.io.clocks.decimals import LAST_INSTANT
from cepctl.numeric.arrays import Numbers


@dataclass(frozen=True)
class HostSurvey:
    """What the rows of a host are like; nanoseconds.

    Attributes
    ----------
    rows
        How many there are.
    first, last
        The least and the largest reading.
    usual
        The lower median of how far rows are apart.
    worst_bound
        The largest bound of a synchronised row, None where there is none.
    unsynchronised
        How many stretches of rows are not synchronised.
    shows_twice
        Whether the clock was set back somewhere, and no message says when.
    zones
        Where messages place steps, as step_zones gives them.
    ends
        The first and the last row outside of zones; fewer where there are not two.
    doubtful
        The rows in zones.
    """

    rows: int
    first: int
    last: int
    usual: int
    worst_bound: int | None
    unsynchronised: int
    shows_twice: bool
    zones: Numbers
    ends: tuple[HostRows, HostRows]
    doubtful: HostRows


@dataclass
class _Looking:
    """What was seen of the rows so far; `apart` counts how far they are apart."""

    zones: Numbers
    apart: Counter[int] = field(default_factory=Counter)
    rows: int = 0
    first: int = LAST_INSTANT
    last: int = 0
    worst_bound: int | None = None
    unsynchronised: int = 0
    shows_twice: bool = False
    ends: list[HostRows] = field(default_factory=list)
    doubtful: list[HostRows] = field(default_factory=list)
    _newest: list[HostRows] = field(default_factory=list)

    def take(self, part: HostRows) -> None:
        """Look at the next rows."""
        after = joined_rows([*self._newest, part])
        self._count_spacings(np.diff(after.time))
        lost = after.state == UNSYNCHRONISED
        begun = lost[1:] & ~lost[:-1]
        self.unsynchronised += int(begun.sum()) + (not self._newest and bool(lost[0]))
        bounds = np.where(part.since != NONE, part.since, part.around)[part.state != UNSYNCHRONISED]
        if len(bounds):
            self.worst_bound = max(self.worst_bound or 0, int(bounds.max()))
        self.first, self.last = min(self.first, int(part.time.min())), max(self.last, int(part.time.max()))
        self.rows, self._newest = self.rows + len(part), [part.only(slice(-1, None))]
        self._look_at_steps(part)

    def _count_spacings(self, apart: Numbers) -> None:
        values, counts = np.unique(apart[apart > 0], return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            self.apart[value] += count

    def _look_at_steps(self, part: HostRows) -> None:
        in_zone = doubtful_rows(part, self.zones)
        self.doubtful.append(part.only(in_zone))
        kept = joined_rows([*self.ends[1:], part.only(~in_zone)])
        links = links_of(kept, self.zones, 0)
        self.shows_twice = self.shows_twice or bool((links.twice | links.back).any())
        if len(kept):
            first = self.ends[0] if self.ends else kept.only(slice(0, 1))
            self.ends = [first, kept.only(slice(-1, None))]


def surveyed(parts: Iterable[HostRows]) -> HostSurvey:
    """Look at all rows, which come in parts; there is one at least."""
    looking: _Looking | None = None
    for part in parts:
        looking = looking or _Looking(step_zones(part))
        looking.take(part)
    assert looking is not None, "a host has rows"
    doubtful = joined_rows(looking.doubtful)
    nothing = doubtful.only(slice(0, 0))
    first, last = looking.ends or (nothing, nothing)
    return HostSurvey(
        rows=looking.rows,
        first=looking.first,
        last=looking.last,
        usual=_lower_median(looking.apart),
        worst_bound=looking.worst_bound,
        unsynchronised=looking.unsynchronised,
        shows_twice=looking.shows_twice,
        zones=looking.zones,
        ends=(first, last),
        doubtful=doubtful,
    )


def _lower_median(counts: Counter[int]) -> int:
    """The lower median of values, given how often each occurs; 0 where there are none."""
    left = (counts.total() + 1) // 2
    for value in sorted(counts):
        left -= counts[value]
        if left <= 0:
            return value
    return 0
