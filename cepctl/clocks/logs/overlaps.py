"""Readings that a clock showed twice: where pieces overlap, one piece holds the laws of all of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from cepctl.clocks.logs.values import NONE, STEPPED, Pieces, joined_pieces, pieces_of

_Row = tuple[int, ...]


def without_overlaps(pieces: Pieces) -> Pieces:
    """Disjoint pieces, in order, that hold what all of these say.

    `pieces`: in the order of their starts.
    """
    if len(pieces) < 2:
        return pieces
    reached = np.maximum.accumulate(pieces.stop)
    overlaps = pieces.start[1:] < reached[:-1]
    if not overlaps.any():
        return _joined_where_they_meet(pieces)
    # A cluster is a run of pieces, each of which overlaps one before it.
    edges = np.flatnonzero(np.diff(np.concatenate([[False], overlaps, [False]]).astype(np.int8)))
    parts, done = [], 0
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        parts += [pieces.taken(slice(done, first)), _laid_over(pieces.taken(slice(first, last + 1)))]
        done = last + 1
    return _joined_where_they_meet(joined_pieces([*parts, pieces.taken(slice(done, None))]))


def _joined_where_they_meet(pieces: Pieces) -> Pieces:
    """Pieces of which none joins one that it does not follow."""
    meets = np.concatenate([[False], pieces.start[1:] == pieces.stop[:-1]])
    return replace(pieces, joins=pieces.joins & meets)


def _laid_over(pieces: Pieces) -> Pieces:
    """The pieces of a cluster, cut where one begins or ends."""
    rows: list[_Row] = [*zip(*(column.tolist() for column in pieces.columns), strict=True)]
    found: list[_Row] = []
    waiting, open_rows = 0, list[_Row]()
    for begin, end in pairwise(sorted({edge for row in rows for edge in row[:2]})):
        while waiting < len(rows) and rows[waiting][0] <= begin:
            open_rows.append(rows[waiting])
            waiting += 1
        open_rows = [row for row in open_rows if row[1] > begin]
        if len(open_rows) == 1:
            found.append(_part(open_rows[0], begin, end))
        elif open_rows:
            found.append(_all_laws(open_rows, begin, end))
    return pieces_of(found)


def _at(row: _Row, reading: int) -> int:
    """The estimate of a piece at a reading, rounded down."""
    start, stop, ahead, ahead_to = row[:4]
    return ahead + (ahead_to - ahead) * (reading - start) // (stop - start)


def _part(row: _Row, begin: int, end: int) -> _Row:
    """A part of a piece, whose bounds take in what is rounded."""
    start, stop, ahead, ahead_to, low, high, sd, joins, *rest = row
    if (begin, end) == (start, stop):
        return row
    slack = int(ahead != ahead_to)
    ends = (_at(row, begin), _at(row, end))
    return (begin, end, *ends, low - slack, high + slack, sd, joins and begin == start, *rest)


def _all_laws(rows: list[_Row], begin: int, end: int) -> _Row:
    """One piece that holds the laws of several, with the estimate of the last."""
    least, most = [], []
    for row in rows:
        ends = (_at(row, begin), _at(row, end))
        least.append(min(ends) + row[4])
        most.append(max(ends) + 1 + row[5])
    last = rows[-1]
    ahead, ahead_to = _at(last, begin), _at(last, end)
    law = (min(least) - max(ahead, ahead_to), max(most) - min(ahead, ahead_to))
    return (begin, end, ahead, ahead_to, *law, NONE, False, STEPPED, *last[9:])
