"""Sorted runs cut into parts of the same number of rows, each of which is merged by itself.

In sequence the parts are the rows of all runs in their order, and where they are cut depends on nothing but
the number of rows: a part is opened at a key that is known to lie not after its first row, and what lies
between is merged and left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.arrays import Indexes
from cepctl.engines.rows.runs import Key, Opening, Run, merged_after


@dataclass(frozen=True)
class Part:
    """The rows `first` to `last`, the latter not included, of the merged runs; picklable.

    The runs are opened `after` a key; None where nothing lies before.
    """

    number: int
    first: int
    last: int
    openings: tuple[Opening, ...]
    after: Key | None

    def blocks(self, held_bytes: int) -> Iterator[pa.Table]:
        """The rows in their order, holding about this many bytes of the runs."""
        for before, block in merged_after(self.openings, self.after, held_bytes):
            first, last = max(before, self.first), min(before + block.num_rows, self.last)
            if first < last:
                yield block.slice(first - before, last - first)
            if last == self.last:
                return


def parts_of(runs: Sequence[Run], rows_of_part: int) -> list[Part]:
    """Parts of so many rows, the last one of fewer."""
    batches = pa.Table.from_batches([run.index for run in runs]).combine_chunks()
    order = pc.sort_indices(batches, [(name, "ascending") for name in ("rank", "start", "match")]).to_numpy()
    # Up to a key there are at most the rows of all batches that begin not after it.
    most = np.cumsum(batches.column("rows").to_numpy()[order])
    begun = _begun(runs, order)
    parts = []
    for number, first in enumerate(range(0, int(most[-1]), rows_of_part)):
        at = int(np.searchsorted(most, first, "right")) - 1
        key = None if at < 0 else _key(batches, int(order[at]))
        openings = tuple(_opening(run, places, at) for run, places in zip(runs, begun, strict=True))
        parts.append(Part(number, first, min(first + rows_of_part, int(most[-1])), openings, key))
    return parts


def _begun(runs: Sequence[Run], order: Indexes) -> list[Indexes]:
    """For each run where its batches come in the order of all batches by their first rows."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=order.dtype)
    ends = np.cumsum([len(run.index) for run in runs])
    return np.split(places, ends[:-1])


def _opening(run: Run, places: Indexes, at: int) -> Opening:
    """The last batch of a run that begins not after the batch at this place of the order."""
    batch = max(int(np.searchsorted(places, at, "right")) - 1, 0)
    return Opening(run.path, batch, int(run.index.column("rows").to_numpy()[:batch].sum()))


def _key(batches: pa.Table, row: int) -> Key:
    rank, start, match = (batches.column(name)[row].as_py() for name in ("rank", "start", "match"))
    return rank, start, match
