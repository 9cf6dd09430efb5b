"""The order in which processes wrote their records, as evidence that a dataset keeps.

A *writer* appends its records as things happen.  However coarse their stamps are, their order is known.  It
is kept as two columns, `writer` and `record`, and as a condition on every world (`IN_WRITTEN_ORDER`).

Records that share a stamp need ticks to lie one after the other: the tick becomes so fine that no unit in
which times are written holds more than a thousandth of its ticks in records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from cepctl.ingestion.chunk_files import read_chunk
from cepctl.ingestion.chunks import RAW_ALONG, RAW_WRITER, Chunk
from cepctl.ingestion.ordering import Piece
from cepctl.ingestion.results import FileResult
from cepctl.ingestion.written_records import Eras, RecordBlock, SharedStamps, shared_stamps
from cepctl.ingestion.written_rows import WrittenRows
from cepctl.schema import (
    EARLIEST_TICK,
    IN_ORDER_ALONG,
    IN_WRITTEN_ORDER,
    LATEST_TICK,
    MICROSECOND,
    MILLISECOND,
    NAMES_OF_ENDS,
    NANOSECOND,
    RECORD,
    TimeUnit,
)

LINES_ARE_ORDERED = True
"""Whether the order of the lines of a log is evidence where nobody says so."""
MOST_STEPS_BACK = 0.01
"""Of the lines of a log so many may step back, if it is taken to be in order where nobody says so."""
_FEW_ROWS = 1_000
"""So many are kept from one look to the next."""


@dataclass(frozen=True)
class Written:
    """What is known of the order of records: results in the unit that has room for all.

    `rows`: what becomes of the rows of each chunk, by its path; empty where nothing is known.  `given`: what
    holds in every world, None where that decides nothing; it `is_assumed` where nobody said so.  `logs`: what
    there is to tell; they `grow` where records that share their stamps may still come.  `is_along`: whether
    something else than records told some order before.
    """

    results: list[FileResult]
    unit: TimeUnit
    rows: Mapping[str, WrittenRows] = field(default_factory=dict)
    given: str | None = None
    logs: tuple[WrittenLog, ...] = ()
    finer: int = 1
    is_assumed: bool = False
    is_along: bool = False
    grow: bool = False

    @property
    def in_units(self) -> bool:
        """Whether records of a writer overlap in time only where they share a stamp."""
        return not self.along and all(log.eras.in_units for log in self.logs if log.is_taken)

    @property
    def is_taken(self) -> bool:
        """Whether some order is evidence."""
        return any(log.is_taken for log in self.logs)

    @property
    def along(self) -> bool:
        """Whether something else than records tells some order."""
        along = self.is_along or any(chunk.along for result in self.results for chunk in result.chunks)
        return along and self.is_taken

    def of(self, pieces: Sequence[Piece]) -> dict[str, WrittenRows]:
        """What becomes of the rows of the chunks of a part."""
        paths = {one.path for piece in pieces for one in piece}
        return {path: self.rows[path] for path in paths & self.rows.keys()}


@dataclass(frozen=True)
class WrittenLog:
    """What there is to tell of the order of the records of a log, or of all logs of which one order is known.

    `is_taken`: whether the order is evidence.  `unsaid`: whether nobody said that it is.
    """

    name: str
    unsaid: bool
    writers: int
    unwritten: int
    eras: Eras
    shared: SharedStamps

    @property
    def is_taken(self) -> bool:
        return not self.unsaid or (LINES_ARE_ORDERED and self.is_mostly_in_order)

    @property
    def is_mostly_in_order(self) -> bool:
        """Whether few records step back."""
        return self.eras.count <= MOST_STEPS_BACK * self.eras.events

    @property
    def matters(self) -> bool:
        """Whether the order of some records would be open without it."""
        return self.is_taken and (self.eras.is_open or bool(self.eras.count))


@dataclass
class Log:
    """The chunks of a log, or of several logs at once where their records are not in the order of chunks."""

    name: str
    chunks: list[Chunk]
    unsaid: bool
    at_once: bool
    names: dict[str, int] = field(default_factory=dict)
    unwritten: int = 0

    def blocks(self, files: fs.FileSystem) -> Iterator[RecordBlock]:
        """The events, in the order of their chunks."""
        self.unwritten = 0
        several = (self._block(chunk, files) for chunk in self.chunks)
        if not self.at_once:
            yield from several
            return
        every = list(several)
        names = ("writer", "along", "lower", "upper")
        yield RecordBlock(*(np.concatenate([getattr(each, name) for each in every]) for name in names))

    @property
    def reach(self) -> list[tuple[int, int]]:
        """The first and the last tick of each block."""
        every = [(chunk.first, chunk.last) for chunk in self.chunks]
        return [(min(first for first, _ in every), max(last for _, last in every))] if self.at_once else every

    def _block(self, chunk: Chunk, files: fs.FileSystem) -> RecordBlock:
        if not chunk.written:
            none = np.full(chunk.rows, -1, np.int64)
            self.unwritten += chunk.rows
            return RecordBlock(none, none, none, none)
        along = RAW_ALONG if chunk.along else RECORD
        table = read_chunk(chunk.path, files, [along, "lower", "upper", RAW_WRITER], [RAW_WRITER])
        names = table.column(RAW_WRITER)
        if not pa.types.is_dictionary(names.type):
            names = names.dictionary_encode()
        names = names.unify_dictionaries().combine_chunks()
        codes = [self.names.setdefault(text, len(self.names)) for text in names.dictionary.to_pylist()]
        place = pc.fill_null(names.indices, len(codes)).to_numpy(zero_copy_only=False)
        writer = np.array([*codes, -1], np.int64)[place]
        order = table.column(along)
        if order.null_count:
            writer = np.where(order.is_null().to_numpy(), -1, writer)
            order = pc.fill_null(order, 0)
        self.unwritten += int((writer < 0).sum())
        lower, upper = (table.column(name).combine_chunks() for name in ("lower", "upper"))
        if any(re.search(NAMES_OF_ENDS, text) for text in names.dictionary.to_pylist()):
            ends = read_chunk(chunk.path, files, ["end_lower", "end_upper"], [])
            of_ends = pc.fill_null(
                pc.match_substring_regex(names.cast(pa.string()), NAMES_OF_ENDS), fill_value=False
            )
            lower, upper = (
                pc.if_else(of_ends, pc.coalesce(end, start), start)
                for end, start in zip(ends.columns, (lower, upper), strict=True)
            )
        ticks = (np.asarray(each.to_numpy(), np.int64) for each in (lower, upper))
        return RecordBlock(writer, np.asarray(order.to_numpy(), np.int64), *ticks)

    def looked_at(self, files: fs.FileSystem) -> tuple[SharedStamps, WrittenLog | None]:
        """Stamps that its records share, and what the order says of them in ticks as they are; None if many.

        Of thousands of small logs each would else be read once for each of the two.
        """
        rows = sum(chunk.rows for chunk in self.chunks)
        if rows > _FEW_ROWS:
            return shared_stamps(self.blocks(files), self.reach), None
        if rows == len(self.chunks) == 1 and not self.at_once:
            alone = SharedStamps(0, (1, 1), (np.zeros(1, np.bool_),))
            return alone, WrittenLog(self.name, self.unsaid, 1, 0, Eras(events=1), alone)
        blocks = list(self.blocks(files))
        shared = shared_stamps(blocks, self.reach)
        return shared, self.walked(1, shared, blocks)

    def walked(self, finer: int, shared: SharedStamps, blocks: Iterable[RecordBlock]) -> WrittenLog:
        """What the order says of each record, in ticks so many times finer."""
        eras = Eras()
        for block, exact in zip(blocks, shared.exact, strict=True):
            eras.add(block.finer(finer, exact) if finer > 1 else block)
        return WrittenLog(self.name, self.unsaid, len(self.names), self.unwritten, eras, shared)

    def rows(self, log: WrittenLog, finer: int, unit: TimeUnit) -> Iterator[tuple[str, WrittenRows]]:
        """What becomes of the rows of each chunk."""
        texts = list(self.names)
        steps = {texts[code]: np.array(places, np.int64) for code, places in log.eras.steps.items()}
        exact = np.concatenate(log.shared.exact) if self.at_once else None
        begin = 0
        for number, chunk in enumerate(self.chunks):
            own = log.shared.exact[number] if exact is None else exact[begin : begin + chunk.rows]
            begin += chunk.rows
            yield chunk.path, WrittenRows(finer, unit, own, steps if log.is_taken else None)


def in_written_order(
    results: list[FileResult],
    unit: TimeUnit,
    files: fs.FileSystem,
    *,
    stored: Sequence[bool],
    unsaid: Sequence[bool],
    assumed: bool,
    unit_is_given: bool,
) -> Written:
    """Say of events who wrote them, and where a tick would hold too many, make it finer.

    Parameters
    ----------
    results, unit
        What came of the files, whose ticks are of this length.
    files
        Where the chunks are.
    stored
        Whether each result is a part of a dataset, whose rows are in no order of writing.
    unsaid
        Whether each result is a log of lines of whose order nobody said anything.
    assumed
        Whether nobody did of the datasets either.
    unit_is_given
        The user said how long a tick is.
    """
    logs = list(logs_of(results, stored, unsaid))
    if not logs:
        return Written(results, unit)
    looked_at = [log.looked_at(files) for log in logs]
    shared = [each for each, _ in looked_at]
    wanted = [each for log, each in zip(logs, shared, strict=True) if LINES_ARE_ORDERED or not log.unsaid]
    finer, finer_unit = finer_ticks(_needed(wanted), unit, results, fixed=unit_is_given)
    walked = [
        log.walked(finer, each, log.blocks(files)) if known is None or finer > 1 else known
        for log, (each, known) in zip(logs, looked_at, strict=True)
    ]
    taken = [each.shared for each in walked if each.is_taken]
    if (least := finer_ticks(_needed(taken), unit, results, fixed=unit_is_given))[0] < finer:
        # What is in no order needs no room.
        finer, finer_unit = least
        walked = [log.walked(finer, each, log.blocks(files)) for log, each in zip(logs, shared, strict=True)]
    rows = {
        path: each
        for log, walk in zip(logs, walked, strict=True)
        for path, each in log.rows(walk, finer, finer_unit)
    }
    if finer > 1:
        results = [rescaled(each, finer, finer_unit) for each in results]
        for result in results:
            for chunk in result.chunks:
                none = np.zeros(chunk.rows, np.bool_)
                rows.setdefault(chunk.path, WrittenRows(finer, finer_unit, none, None))
    order = IN_ORDER_ALONG if any(chunk.along for log in logs for chunk in log.chunks) else IN_WRITTEN_ORDER
    given = order if any(each.matters for each in walked) else None
    said = any(each.matters and not each.unsaid and not assumed for each in walked)
    return Written(
        results, finer_unit, rows, given, tuple(walked), finer, is_assumed=given is not None and not said
    )


def logs_of(results: Sequence[FileResult], stored: Sequence[bool], unsaid: Sequence[bool]) -> Iterator[Log]:
    """The logs whose records somebody wrote; parameters as those of `in_written_order`."""
    at_once = Log("", [], unsaid=False, at_once=True)
    for result, is_stored, is_unsaid in zip(results, stored, unsaid, strict=True):
        if not any(chunk.written for chunk in result.chunks):
            continue
        if is_stored or any(chunk.along for chunk in result.chunks):
            at_once.name = at_once.name or result.name
            at_once.chunks += result.chunks
        else:
            yield Log(result.name, list(result.chunks), is_unsaid, at_once=False)
    if at_once.chunks:
        yield at_once


def _needed(shared: Sequence[SharedStamps]) -> int:
    return max((each.needed for each in shared), default=1)


def finer_ticks(
    needed: int, unit: TimeUnit, results: Sequence[FileResult], *, fixed: bool
) -> tuple[int, TimeUnit]:
    """Into how many ticks each of `unit` is cut where so many are `needed`, and the unit that they have then.

    They are nanoseconds at most; none is cut where the unit is `fixed`, or where not all events are points.
    """
    is_plain = all(_is_plain(chunk) for each in results for chunk in each.chunks)
    if needed <= 1 or fixed or not is_plain:
        return 1, unit
    ends = [abs(each) for result in results for each in (result.first, result.last) if each is not None]
    reach = max(ends, default=0)
    finer = [
        (unit.nanoseconds // each.nanoseconds, each)
        for each in (MILLISECOND, MICROSECOND, NANOSECOND)
        if unit.nanoseconds % each.nanoseconds == 0
    ]
    held = [each for each in finer if (reach + 1) * each[0] <= min(LATEST_TICK, -EARLIEST_TICK)]
    found = next((each for each in held if each[0] >= needed), held[-1] if held else (1, unit))
    return found


def _is_plain(chunk: Chunk) -> bool:
    """Whether its ticks are those of points alone, which a finer unit multiplies."""
    return not (chunk.ended or chunk.lengths or chunk.clocks)


def rescaled(result: FileResult, finer: int, unit: TimeUnit) -> FileResult:
    """What came of a file, in ticks so many times finer."""
    first, last = result.first, result.last
    return replace(
        result,
        first=first if first is None else first * finer,
        last=last if last is None else last * finer + finer - 1,
        written=replace(result.written, unit=unit),
    )
