"""The order of records of logs that grow: what one run says of it, and what is left to all runs together.

A run says who wrote what, in ticks that have room for records still to come.  Which records share a stamp,
and which step back, is found among all that is kept of a log (`cepctl.state.written_order`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pyarrow import fs

from cepctl.errors import UnsupportedQueryError
from cepctl.ingestion.results import FileResult
from cepctl.ingestion.writers import Log, Written, finer_ticks, logs_of, rescaled
from cepctl.ingestion.written_records import TICKS_OF_A_RECORD, RecordBlock, SharedStamps, shared_stamps
from cepctl.ingestion.written_rows import WrittenRows
from cepctl.numeric.arrays import Indexes
from cepctl.schema import IN_ORDER_ALONG, IN_WRITTEN_ORDER, TimeUnit

_MOST_SHARING = 1_000


@dataclass(frozen=True)
class Growth:
    """What earlier runs have decided of logs that grow.

    `times`, `ticks`: the units in which times are read, and counted; None before the first run.
    `is_ordered`: whether the order of some records is evidence; `is_along`: whether something else than
    records may tell it.  `in_order`, `unordered`: the logs of lines whose order is although nobody says so,
    and those whose order says nothing.
    """

    times: TimeUnit | None = None
    ticks: TimeUnit | None = None
    is_ordered: bool = False
    is_along: bool = False
    in_order: frozenset[str] = frozenset()
    unordered: frozenset[str] = frozenset()

    def as_json(self) -> dict[str, Any]:
        """As a state keeps it."""
        units = {"times": self.times, "ticks": self.ticks}
        return {
            **{name: None if unit is None else str(unit) for name, unit in units.items()},
            "is_ordered": self.is_ordered,
            "is_along": self.is_along,
            "in_order": sorted(self.in_order),
            "unordered": sorted(self.unordered),
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Growth:
        """What `as_json` wrote."""
        times, ticks = (
            None if (unit := said[name]) is None else TimeUnit.parse(unit) for name in ("times", "ticks")
        )
        return cls(
            *(times, ticks, said["is_ordered"], said.get("is_along", False)),
            *(frozenset(said["in_order"]), frozenset(said["unordered"])),
        )

    @property
    def ticks_of_a_time(self) -> int:
        """How many ticks a time has that is known as well as times are read."""
        if self.times is None or self.ticks is None:
            return 1
        return self.times.nanoseconds // self.ticks.nanoseconds

    def after(self, written: Written, times: TimeUnit) -> Growth:
        """The same with what was decided of more logs, whose times were read in this unit."""
        unsaid = [each for each in written.logs if each.unsaid]
        taken = frozenset(each.name for each in unsaid if each.is_taken)
        left = frozenset(each.name for each in unsaid) - taken
        return Growth(
            self.times or times,
            self.ticks or written.unit,
            self.is_ordered or written.is_taken,
            self.is_along or written.along,
            self.in_order | taken,
            self.unordered | left,
        )


def in_growing_order(
    results: list[FileResult],
    unit: TimeUnit,
    files: fs.FileSystem,
    growth: Growth,
    *,
    stored: Sequence[bool],
    unsaid: Sequence[bool],
    unit_is_given: bool,
) -> Written:
    """Say of events who wrote them; parameters as those of `in_written_order`.

    Raises
    ------
    UnsupportedQueryError
        If something else than records tells an order, and only records did before.
    """
    if growth.is_ordered and not growth.is_along and any(c.along for each in results for c in each.chunks):
        raise UnsupportedQueryError(
            "the order of new events is that along a column, of those before that of their records; "
            "start a new state"
        )
    undecided = [
        is_unsaid and result.name not in growth.in_order
        for result, is_unsaid in zip(results, unsaid, strict=True)
    ]
    logs = [each for each in logs_of(results, stored, undecided) if each.name not in growth.unordered]
    shared = [shared_stamps(log.blocks(files), log.reach) for log in logs]
    if growth.ticks is None:
        of_datasets = {
            chunk.path
            for result, is_stored in zip(results, stored, strict=True)
            for chunk in (result.chunks if is_stored else ())
        }
        needed = _needed(logs, shared, files, of_datasets)
        finer, ticks = finer_ticks(needed, unit, results, fixed=unit_is_given)
    else:
        # Of a dataset in ticks that are finer still the one who asked is told.
        finer = max(unit.nanoseconds // growth.ticks.nanoseconds, 1)
        ticks = growth.ticks if finer > 1 else unit
    walked = [log.walked(finer, each, log.blocks(files)) for log, each in zip(logs, shared, strict=True)]
    steps: dict[str, dict[str, Indexes] | None] = {
        chunk.path: {} if walk.is_taken else None
        for log, walk in zip(logs, walked, strict=True)
        for chunk in log.chunks
    }
    if finer > 1:
        results = [rescaled(each, finer, ticks) for each in results]
    rows = {
        chunk.path: WrittenRows(finer, ticks, np.zeros(chunk.rows, np.bool_), steps.get(chunk.path))
        for result in results
        for chunk in result.chunks
    }
    written = Written(
        *(results, ticks, rows, None, tuple(walked), finer), is_along=growth.is_along, grow=True
    )
    order = IN_ORDER_ALONG if written.along else IN_WRITTEN_ORDER
    return replace(written, given=order if written.is_taken else None)


def _needed(
    logs: Sequence[Log], shared: Sequence[SharedStamps], files: fs.FileSystem, of_datasets: Set[str]
) -> int:
    """Into how many ticks each one is cut: of a log so many records may yet come that share a stamp.

    The ticks of datasets, whose chunks are `of_datasets`, have room already.
    """
    growing = (log for log in logs if not {chunk.path for chunk in log.chunks} <= of_datasets)
    widths = [_least_width(log.blocks(files)) for log in growing]
    room = [-(-TICKS_OF_A_RECORD * _MOST_SHARING // each) for each in widths]
    return max((*room, *(each.needed for each in shared)), default=1)


def _least_width(blocks: Iterable[RecordBlock]) -> int:
    """Ticks of the shortest stamp."""
    return min((int((each.upper - each.lower).min()) + 1 for each in blocks if len(each)), default=1)
