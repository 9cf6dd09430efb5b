"""Rows of a host -> pieces of its readings: between two rows the estimate is linear, and bounds are hard.

    law       between rows (t, a, s) and (t', a', s')                                        name here
    since     low = -m - max(a, a'), high = m - min(a, a'), m of the later row               since
    around    high = -low = max(b, b') + drift (t' - t) / 2, rounded up                      around
    both      sd = sqrt((s^2 + s'^2) / 2 + (a' - a)^2 / 6)                                    sd

A piece of a step that no message places holds the law of either row, grown by the drift over the piece; where
the clock was set back, readings around it were shown twice.  The term (a' - a)^2 / 6 is the variance of a
step at a uniform place against the line between the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from cepctl.clocks.logs.ends import held_end
from cepctl.clocks.logs.links import RowLinks, links_of
from cepctl.clocks.logs.overlaps import without_overlaps
from cepctl.clocks.logs.steps import doubtful_rows, placed_pieces, twice_pieces
from cepctl.clocks.logs.survey import HostSurvey
from cepctl.clocks.logs.values import (
    AFTER,
    BEFORE,
    GAP,
    NONE,
    ROW,
    STEPPED,
    HostRows,
    PieceChoices,
    Pieces,
    growth,
    joined_pieces,
    joined_rows,
    pieces_of,
)
from cepctl.numeric.arrays import Flags, Numbers, Reals


@dataclass
class Cutter:
    """Cuts the rows of a host into pieces; `steps` and `gaps` count what has parted them so far."""

    survey: HostSurvey
    choices: PieceChoices
    steps: int = 0
    gaps: int = 0

    def pieces(self, parts: Iterable[HostRows]) -> Iterator[Pieces]:
        """The pieces of a host: disjoint, in order, each with an estimate and its hard bounds.

        `parts` are the rows that were surveyed.  Where the clock was set back, all pieces are held at once.
        """
        found = self._in_log_order(parts)
        if not self.survey.shows_twice:
            yield from found
            return
        every = joined_pieces([pieces_of([]), *found])
        yield without_overlaps(every.taken(np.argsort(every.start, kind="stable")))

    def _in_log_order(self, parts: Iterable[HostRows]) -> Iterator[Pieces]:
        survey, choices = self.survey, self.choices
        self.steps += len(survey.zones)
        first, last = survey.ends
        yield from held_end(first, BEFORE, survey.zones, choices)
        before, goes_on = first.only(slice(0, 0)), False
        for part in parts:
            rows = joined_rows([before, part.only(~doubtful_rows(part, survey.zones))])
            if len(rows) > 1:
                links = links_of(rows, survey.zones, survey.usual)
                found, goes_on = self._between(rows, links, goes_on)
                yield from found
            before = rows.only(slice(-1, None)) if len(rows) else rows
        yield from held_end(last, AFTER, survey.zones, choices)

    def _between(self, rows: HostRows, links: RowLinks, goes_on: bool) -> tuple[list[Pieces], bool]:
        """The pieces between rows, and whether one after them can go on in their epoch."""
        drift, apart = self.choices.drift, np.diff(rows.time)
        ends_plain = _ends_plain(links, apart, goes_on)
        at = np.flatnonzero(links.touched & ~links.placed & (apart > 0))
        placed = np.flatnonzero(links.placed)
        special = [
            *placed_pieces(rows, self.survey.zones, self.survey.doubtful, placed, drift, ends_plain),
            *twice_pieces(rows, np.flatnonzero(links.twice), drift),
        ]
        self.steps += int((links.step & links.touched).sum())
        self.gaps += int(links.gap.sum())
        found = [_linear(rows, links, at, ends_plain, drift), *special]
        if special:
            every = joined_pieces(found)
            found = [every.taken(np.argsort(every.start, kind="stable"))]
        return [each for each in found if len(each)], bool(ends_plain[-1])


def _ends_plain(links: RowLinks, apart: Numbers, goes_on: bool) -> Flags:
    """Of each row, whether the piece that ends there can go on in its epoch; `goes_on`: of the first row."""
    ends = links.plain | (links.placed & links.touched)
    # Between two rows of one reading there is no piece: what holds at the first holds at the second.
    last = np.maximum.accumulate(np.where(links.plain & (apart == 0), -1, np.arange(len(apart))))
    return np.concatenate([[goes_on], np.where(last < 0, goes_on, ends[last])])


def _linear(rows: HostRows, links: RowLinks, at: Numbers, ends_plain: Flags, drift: int) -> Pieces:
    """The pieces from the rows `at` to those after them."""
    later = at + 1
    start, stop = rows.time[at], rows.time[later]
    ahead, ahead_to = rows.ahead[at], rows.ahead[later]
    low, high = _law(rows, at, drift)
    step, gap = links.step[at], links.gap[at]
    if step.any():
        low_step, high_step = _either_law(rows, at, drift)
        low, high = np.where(step, low_step, low), np.where(step, high_step, high)
    note = np.where(step, STEPPED, np.where(gap, GAP, ROW)).astype(np.int64)
    joins = links.plain[at] & ends_plain[at]
    deviation = _deviation(rows, at)
    return Pieces(
        start, stop, ahead, ahead_to, low, high, deviation, joins, note, rows.file[later], rows.line[later]
    )


def _law(rows: HostRows, at: Numbers, drift: int) -> tuple[Numbers, Numbers]:
    """Least and most residual between two rows that no step parts."""
    later = at + 1
    ahead, ahead_to = rows.ahead[at], rows.ahead[later]
    highest, lowest = np.maximum(ahead, ahead_to), np.minimum(ahead, ahead_to)
    since = np.maximum(rows.since[later], np.maximum(np.abs(ahead), np.abs(ahead_to)))
    # A row that is bounded since the one before bounds the estimate of its own time, too.
    around = np.where(rows.around[at] != NONE, rows.around[at], rows.most[at] + np.abs(ahead))
    grown = np.maximum(around, rows.around[later]) + growth(rows.time[later] - rows.time[at], drift, 2)
    is_since = rows.since[later] != NONE
    return np.where(is_since, -since - highest, -grown), np.where(is_since, since - lowest, grown)


def _either_law(rows: HostRows, at: Numbers, drift: int) -> tuple[Numbers, Numbers]:
    """Least and most residual where the clock was set somewhere between two rows."""
    later = at + 1
    grown = growth(np.abs(rows.time[later] - rows.time[at]), drift)
    least = np.minimum(rows.least[at], rows.least[later]) - grown
    most = np.maximum(rows.most[at], rows.most[later]) + grown
    ahead, ahead_to = rows.ahead[at], rows.ahead[later]
    return least - np.maximum(ahead, ahead_to), most - np.minimum(ahead, ahead_to)


def _deviation(rows: HostRows, at: Numbers) -> Numbers:
    """The standard deviation of the residual, rounded up; NONE where a row has none."""
    one, other = rows.sd[at], rows.sd[at + 1]
    apart: Reals = (rows.ahead[at + 1] - rows.ahead[at]).astype(np.float64)
    variance = (one.astype(np.float64) ** 2 + other.astype(np.float64) ** 2) / 2 + apart**2 / 6
    return np.where((one == NONE) | (other == NONE), NONE, np.ceil(np.sqrt(variance)).astype(np.int64))
