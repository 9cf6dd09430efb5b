"""The events of a file as their writers wrote them: the order of their records, and where it steps back.

A record that cannot lie after all those that its writer wrote before it, wherever these are, is a *step
back*: the writer begins anew with it, in another *era*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Ticks

TICKS_OF_A_RECORD = 1_000
"""Of a written unit one tick in so many is a record's, at most."""
_FEW = 64


@dataclass(frozen=True)
class WrittenRecords:
    """n events by writer and record.

    `row`: where each stands in the file; `writer`: the number of each, -1 for none; `era`: how often its
    writer has begun anew; `sharing`: how many events of the writer have its interval.  `steps`: the places of
    those that step back, and `behind` by how many ticks, shape (s,).
    """

    row: Indexes
    writer: Indexes
    record: Indexes
    lower: Ticks
    upper: Ticks
    era: Indexes
    sharing: Indexes
    steps: Indexes
    behind: Ticks

    @classmethod
    def of(cls, writer: Indexes, record: Indexes, lower: Ticks, upper: Ticks) -> WrittenRecords:
        """The events in the order in which their writers wrote them; all arguments of shape (n,)."""
        row = np.lexsort((record, writer))
        writer, record, lower, upper = (each[row] for each in (writer, record, lower, upper))
        new = np.ones(len(row), dtype=bool)
        new[1:] = writer[1:] != writer[:-1]
        begins = np.flatnonzero(new)
        era = np.zeros(len(row), dtype=np.int64)
        steps, behind = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(row)], strict=True):
            if writer[begin] < 0:
                continue
            first, last = lower[begin:end], upper[begin:end]
            place = _places(record[begin:end])
            own = np.fromiter(_steps(first - place, last - place), np.int64)
            steps.append(begin + own)
            behind.append(np.maximum.accumulate(first)[own - 1] - last[own])
            era[begin + own] = 1
            era[begin:end] = np.cumsum(era[begin:end])
        sharing = _sharing(writer, lower, upper)
        return cls(
            row, writer, record, lower, upper, era, sharing, np.concatenate(steps), np.concatenate(behind)
        )

    @property
    def needed(self) -> Indexes:
        """Into how many ticks each one must be cut so that all records have room, shape (n,)."""
        room = TICKS_OF_A_RECORD * self.sharing
        return np.where(self.sharing > 1, -(-room // (self.upper - self.lower + 1)), 1)


def _places(record: Indexes) -> Indexes:
    """The place of each record among those of its writer; events of one record share it."""
    return np.cumsum(np.append(0, record[1:] != record[:-1]).astype(np.int64))


def _steps(earliest: Ticks, latest: Ticks) -> Iterator[int]:
    """Where a record cannot lie after all since the last step: looked for in stretches that grow.

    `earliest`, `latest`: ends of intervals less the places of their records, since each comes after the last.

    >>> list(_steps(np.array([5, 4, 1, 1]), np.array([9, 8, 3, 2])))
    [2]
    """
    reached, at, size = earliest[0], 1, _FEW
    while at < len(earliest):
        end = min(at + size, len(earliest))
        so_far = np.maximum(np.maximum.accumulate(earliest[at:end]), reached)
        broken = np.flatnonzero(so_far > latest[at:end])
        if len(broken):
            at += int(broken[0])
            yield at
            reached, at, size = earliest[at], at + 1, _FEW
        else:
            reached, at, size = so_far[-1], end, 2 * size


def _sharing(writer: Indexes, lower: Ticks, upper: Ticks) -> Indexes:
    """How many events of a writer have the interval of each."""
    order = np.lexsort((upper, lower, writer))
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for each in (writer[order], lower[order], upper[order]):
        new[1:] |= each[1:] != each[:-1]
    begins = np.flatnonzero(new)
    sizes = np.diff(np.append(begins, len(order)))
    counts = np.empty(len(order), dtype=np.int64)
    counts[order] = np.repeat(sizes, sizes)
    return np.where(writer >= 0, counts, 1)
