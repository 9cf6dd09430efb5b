"""The overview of a state: how far it has come, what it keeps, and the bound on that."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from cepctl.schema import TICK_MIN, tick_text
from cepctl.state.progress import Counts
from cepctl.state.sources import ARCHIVE
from cepctl.state.store import Saved, size_of, size_of_sketch


@dataclass(frozen=True)
class Overview:
    """The state after run number `run`; times as text, None before there are any.

    Every event that can matter and reaches `keeps_from` or a later tick is kept, and no other; no row that
    is still to be emitted ends before `finalized_before`, but for corrections.  A sketch of `events_sketched`
    takes `sketch_bytes` of the `bytes`; both are None where none is kept.
    """

    run: int
    written: str
    binding: dict[str, str]
    time_unit: str
    closed: bool
    newest: str | None
    watermark: str | None
    finalized_before: str | None
    keeps_from: str | None
    events_kept: int
    oldest_kept: str | None
    late_kept: int
    rows_provisional: int
    bytes: int
    events_sketched: int | None
    sketch_bytes: int | None
    inputs: int
    bytes_read: int
    counts: Counts


def overview(directory: Path, saved: Saved) -> Overview:
    """Look at a state."""
    progress, unit = saved.progress, saved.time_unit
    inputs = [source for source in saved.sources if source.format != ARCHIVE]

    def text(tick: int | None) -> str | None:
        return None if tick is None or tick == TICK_MIN else tick_text(tick, unit)

    return Overview(
        run=saved.run,
        written=saved.written,
        binding=saved.binding,
        time_unit=str(unit),
        closed=progress.closed,
        newest=text(progress.newest),
        watermark=text(progress.watermark),
        finalized_before=text(progress.finalized_before),
        keeps_from=text(progress.complete_from),
        events_kept=progress.events.num_rows,
        oldest_kept=text(pc.min(progress.events.column("lower")).as_py()),
        late_kept=progress.late.num_rows,
        rows_provisional=progress.provisional.num_rows,
        bytes=size_of(directory, saved.run),
        events_sketched=None if saved.sketch is None else saved.sketch.events,
        sketch_bytes=None if saved.sketch is None else size_of_sketch(directory, saved.run),
        inputs=len(inputs),
        bytes_read=sum(source.offset for source in inputs),
        counts=progress.counts,
    )
