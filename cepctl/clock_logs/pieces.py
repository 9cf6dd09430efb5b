"""Rows of a host -> pieces of its readings: between two rows the estimate is linear, and bounds are hard.

    law       between rows (t, a, s) and (t', a', s')                                        name here
    since     low = -m - max(a, a'), high = m - min(a, a'), m of the later row               since
    around    high = -low = max(b, b') + drift (t' - t) / 2, rounded up                      around
    both      sd = sqrt((s^2 + s'^2) / 2 + (a' - a)^2 / 6)                                    sd

A piece of a step that no message places holds the law of either row, grown by the drift over the piece.  The
term (a' - a)^2 / 6 is the variance of a step at a uniform place against the line between the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Flags, Numbers, Reals
from cepctl.clock_logs.ends import held_ends
from cepctl.clock_logs.overlaps import without_overlaps
from cepctl.clock_logs.steps import back_pieces, doubtful_rows, placed_pieces, step_zones
from cepctl.clock_logs.values import GAP, NONE, ROW, STEPPED, Choices, HostRows, Pieces, growth, joined_pieces
from cepctl.io.clocks.contract import JUMP, SYNCHRONISED, UNLOCKED, UNSYNCHRONISED

_FASTEST_SLEW = 12
_GAP = 4
_STRETCH_PIECES = 1 << 17


@dataclass(frozen=True)
class Links:
    """What lies between consecutive rows, one element per pair.

    Attributes
    ----------
    touched
        Both rows are synchronised, so a piece touches them.
    placed
        A message places a step between them.
    back
        The later row has an earlier reading.
    step
        The clock was set between them, and no message says when.
    gap
        They are further apart than four times the lower median.
    """

    touched: Flags
    placed: Flags
    back: Flags
    step: Flags
    gap: Flags

    @property
    def plain(self) -> Flags:
        """Whether the piece between them can belong to an epoch with others."""
        return self.touched & ~(self.placed | self.back | self.step | self.gap)


@dataclass(frozen=True)
class Cut:
    """The pieces of a host in order of readings, and how many steps and gaps cut them."""

    pieces: Pieces
    steps: int
    gaps: int


def cut_into_pieces(rows: HostRows, choices: Choices) -> Cut:
    """The pieces of a host: disjoint, in order, each with an estimate and its hard bounds."""
    zones = step_zones(rows)
    doubtful = doubtful_rows(rows, zones)
    kept = rows.only(~doubtful) if doubtful.any() else rows
    links = links_of(kept, zones)
    found = _between(kept, links, choices)
    special = [
        *held_ends(kept, zones, choices),
        *placed_pieces(kept, rows.only(doubtful), np.flatnonzero(links.placed), zones, choices.drift, _ends_plain(links)),
        *back_pieces(kept, np.flatnonzero(links.back & links.touched), choices.drift),
    ]
    if special:
        found = joined_pieces([found, *special])
        found = found.taken(np.argsort(found.start, kind="stable"))
    found = without_overlaps(found)
    steps = len(zones) + int((links.step & links.touched & ~links.placed).sum())
    return Cut(found, steps, int((links.gap & ~links.placed).sum()))


def links_of(rows: HostRows, zones: Numbers) -> Links:
    """What lies between the rows; `zones` as step_zones gives them."""
    apart = np.diff(rows.time)
    holds = rows.state != UNSYNCHRONISED
    begins = zones[:, 0]
    placed = np.searchsorted(begins, rows.time[1:]) > np.searchsorted(begins, rows.time[:-1])
    back = apart < 0
    states = rows.state
    step = back | np.isin(states[:-1], (UNLOCKED, JUMP)) | (states[1:] == UNLOCKED)
    step |= np.abs(np.diff(rows.ahead)) > apart // _FASTEST_SLEW
    forward = apart[apart > 0]
    usual = np.partition(forward, (len(forward) - 1) // 2)[(len(forward) - 1) // 2] if len(forward) else 0
    return Links(holds[1:] & holds[:-1], placed, back & ~placed, step & ~placed, apart > _GAP * usual)


def _ends_plain(links: Links) -> Flags:
    """Of each row, whether the piece that ends there can go on in an epoch."""
    return np.concatenate([[False], links.plain | (links.placed & links.touched)])


def _between(rows: HostRows, links: Links, choices: Choices) -> Pieces:
    """The pieces between rows that follow each other, but those that a message or a reading cuts."""
    apart = np.diff(rows.time)
    at = np.flatnonzero(links.touched & ~links.placed & ~links.back & (apart > 0))
    parts = [_stretch(rows, links, at[first : first + _STRETCH_PIECES], choices) for first in range(0, len(at), _STRETCH_PIECES)]
    return joined_pieces(parts) if parts else _stretch(rows, links, at, choices)


def _stretch(rows: HostRows, links: Links, at: Numbers, choices: Choices) -> Pieces:
    """The pieces from the rows `at` to those after them."""
    later = at + 1
    start, stop = rows.time[at], rows.time[later]
    ahead, ahead_to = rows.ahead[at], rows.ahead[later]
    low, high = _law(rows, at, choices.drift)
    step, gap = links.step[at], links.gap[at]
    if step.any():
        low_step, high_step = _either_law(rows, at, choices.drift)
        low, high = np.where(step, low_step, low), np.where(step, high_step, high)
    plain = links.plain[at]
    note = np.where(step, STEPPED, np.where(gap, GAP, ROW)).astype(np.int64)
    joins = plain & _ends_plain(links)[at]
    return Pieces(
        start, stop, ahead, ahead_to, low, high, _deviation(rows, at), joins, note, rows.file[later], rows.line[later]
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
