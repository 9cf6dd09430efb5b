"""A first look at all rows of a host: what must be known before the first piece is cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Numbers
from cepctl.clock_logs.links import links_of
from cepctl.clock_logs.steps import doubtful_rows, step_zones
from cepctl.clock_logs.values import NONE, HostRows, joined_rows
from cepctl.io.clocks.contract import UNSYNCHRONISED


@dataclass(frozen=True)
class Survey:
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


def surveyed(parts: Iterable[HostRows]) -> Survey:
    """Look at all rows, which come in parts; there is one at least."""
    apart: dict[int, int] = {}
    rows, stretches, shows_twice = 0, 0, False
    firsts, lasts, bounds, doubtful = [], [], [], []
    ends: list[HostRows] = []
    last_time, was_lost = None, False
    zones = np.empty((0, 2), np.int64)
    for part in parts:
        zones = zones if rows else step_zones(part)
        times = part.time if last_time is None else np.concatenate([[last_time], part.time])
        spacings = np.diff(times)
        for value, count in zip(
            *map(np.ndarray.tolist, np.unique(spacings[spacings > 0], return_counts=True)), strict=True
        ):
            apart[value] = apart.get(value, 0) + count
        lost = part.state == UNSYNCHRONISED
        stretches += int((np.diff(np.concatenate([[was_lost], lost]).astype(np.int8)) == 1).sum())
        held = np.where(part.since != NONE, part.since, part.around)[~lost]
        bounds += [int(held.max())] if len(held) else []
        in_zone = doubtful_rows(part, zones)
        doubtful.append(part.only(in_zone))
        kept = joined_rows([*ends[1:], part.only(~in_zone)])
        links = links_of(kept, zones, 0)
        shows_twice = shows_twice or bool((links.twice | links.back).any())
        if len(kept):
            ends = [ends[0] if ends else kept.only(slice(0, 1)), kept.only(slice(-1, None))]
        firsts.append(int(part.time.min()))
        lasts.append(int(part.time.max()))
        rows, last_time, was_lost = rows + len(part), part.time[-1], bool(lost[-1])
    nothing = part.only(slice(0, 0))
    return Survey(
        rows,
        min(firsts),
        max(lasts),
        _lower_median(apart),
        max(bounds, default=None),
        stretches,
        shows_twice,
        zones,
        (ends[0], ends[1]) if ends else (nothing, nothing),
        joined_rows(doubtful),
    )


def _lower_median(counts: dict[int, int]) -> int:
    """The lower median of values, given how often each occurs; 0 where there are none."""
    left = (sum(counts.values()) + 1) // 2
    for value in sorted(counts):
        left -= counts[value]
        if left <= 0:
            return value
    return 0
