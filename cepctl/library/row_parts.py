"""Rows written as a folder of Parquet files, which in sequence have the rows in their order.

What lies in sorted runs on disk is merged part by part, on all cores or by the tasks of Spark; nobody holds
more of it than a few groups of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cepctl.errors import JobError
from cepctl.io.rows.forms import ROWS_OF_GROUP

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.engines.rows.number_order import Piece
    from cepctl.engines.rows.runs import MergedPart
    from cepctl.engines.runners.progress import RunProgress
    from cepctl.io.rows.folder import RowFolder
    from cepctl.io.rows.shown import PresentedRows
    from cepctl.library.matches import Matches
    from cepctl.matching.execution import Execution

ROWS_OF_PART = 4 * ROWS_OF_GROUP
_OPEN_FILES = 512


@dataclass(frozen=True)
class RowPartTask:
    """One part: where its rows come from and where they go; picklable."""

    part: MergedPart
    path: Path
    shown: PresentedRows
    held_bytes: int


def write_parts(
    matches: Matches,
    folder: RowFolder,
    shown: PresentedRows,
    execution: Execution,
    limit: int | None,
    progress: RunProgress,
) -> int:
    """Write rows, at most `limit` of them, as the parts of a folder; returns how many.

    How many rows a part has depends on neither runner nor memory.

    Raises
    ------
    JobError
        If they cannot be written.
    """
    rows = matches.found.rows
    parts = [] if limit is not None or matches.summary.best else rows.parts(ROWS_OF_PART)
    progress.writing(len(matches) if limit is None else min(limit, len(matches)))
    if not parts:
        return write_in_turn(matches.pieces(limit), folder, shown, progress)
    in_slices = matches.summary.slices is not None
    threads = 1 if in_slices else _threads(parts, rows.merging_bytes, rows.size // parts[-1].last)
    tasks = [
        RowPartTask(part, folder.part(part.number), shown, rows.merging_bytes // threads) for part in parts
    ]
    if in_slices:
        with execution.runner.opened(verbose=execution.verbose) as runner:
            for _ in runner.stream(_written, tasks, progress.of_writers()):
                pass
    else:
        _write_here(tasks, threads, progress)
    return parts[-1].last


def write_part(task: RowPartTask) -> None:
    """Write one part; raises JobError where it cannot be written."""
    _write(task.path, task.part.blocks(task.held_bytes), task.shown)


def write_in_turn(
    pieces: Iterable[Piece], folder: RowFolder, shown: PresentedRows, progress: RunProgress
) -> int:
    """Write pieces of rows as the parts of a folder, one after the other; returns how many rows.

    Raises
    ------
    JobError
        If they cannot be written.
    """
    from cepctl.engines.concurrency import in_turn, usable_cores

    rows = 0
    for number, group in enumerate(_of_parts(in_turn(pieces, usable_cores()))):
        rows += _write(folder.part(number), group, shown)
        progress.wrote(rows, max(progress.found, 1))
    return rows


def _of_parts(blocks: Iterator[pa.Table]) -> Iterator[Iterable[pa.Table]]:
    """The blocks of one part after the other; there is one part at least."""
    left = next(blocks)

    def of_part() -> Iterator[pa.Table]:
        nonlocal left
        room = ROWS_OF_PART
        while True:
            yield left.slice(0, room)
            room, rest = room - left.num_rows, left.slice(room)
            if room <= 0:
                left = rest
                return
            following = next(blocks, None)
            left = rest if following is None else following
            if following is None:
                return

    yield of_part()
    while left.num_rows or (left := next(blocks, left)).num_rows:
        yield of_part()


def _write(path: Path, blocks: Iterable[pa.Table], shown: PresentedRows) -> int:
    from cepctl.io.rows.encoding import encoded_rows
    from cepctl.library.found import without_raw_times

    rows = 0

    def counted() -> Iterator[pa.Table]:
        nonlocal rows
        for block in blocks:
            rows += block.num_rows
            yield without_raw_times(block)

    try:
        with path.open("wb") as stream:
            stream.writelines(encoded_rows(counted(), "parquet", shown, threads=1))
    except OSError as problem:
        raise JobError(f"cannot write {path}: {problem.strerror or problem}") from None
    return rows


def _threads(parts: Sequence[MergedPart], held_bytes: int, row_bytes: int) -> int:
    """As many as there are cores; fewer where they would open too many runs, or hold too many rows."""
    from cepctl.engines.concurrency import usable_cores

    by_memory = held_bytes // max(row_bytes * ROWS_OF_GROUP, 1)
    return max(1, min(usable_cores(), by_memory, _OPEN_FILES // len(parts[0].openings)))


def _write_here(tasks: Sequence[RowPartTask], threads: int, progress: RunProgress) -> None:
    from cepctl.engines.concurrency import concurrently, telling

    steps: list[Callable[[], Iterator[None]]] = [partial(_written, task) for task in tasks]
    for _ in concurrently(telling(steps, progress.wrote), threads):
        pass


def _written(task: RowPartTask) -> Iterator[None]:
    write_part(task)
    yield None
