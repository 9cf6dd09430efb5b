"""Large files in parts: read at once by several tasks, as if each file were read as a whole.

First every block of a file of lines is scanned for where records begin; then the parts between these places
are read as files of their own, which know how many records and lines stand before them.  A file of Parquet
falls into its row groups.  Then what came of the parts is put together.  Where that would not be what the
whole file gives (its attributes are of several kinds or too many, its parts begin with times of several
forms, a part cannot be read, more rejects than are allowed), the file is read as a whole.
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from cepctl.datasets.kinds import Kind
from cepctl.errors import LogFormatError
from cepctl.event_table import FIXED_COLUMNS
from cepctl.ingestion.alike_files import read_bundle
from cepctl.ingestion.bundles import results_of
from cepctl.ingestion.needed import all_unneeded
from cepctl.ingestion.other_times import OtherTimes
from cepctl.ingestion.progress import progress_of
from cepctl.ingestion.reading import discard, parser_died
from cepctl.ingestion.rejects import rejects_of_parts
from cepctl.ingestion.results import FileResult, TimesSeen
from cepctl.ingestion.task import ReadTask
from cepctl.io.contract.attribute_limit import MOST_ATTRIBUTES, REST
from cepctl.io.contract.line_records import OPEN_QUOTE, LineRecords, Passages, RecordCut, cuts
from cepctl.io.formats import format_of, open_log
from cepctl.io.source.locations import FilePart, InputFile, Location, RowGroupPart
from cepctl.runners.runner import Runner

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONGEST_HEADER = 1 << 20
_NUMBERS = {Kind.INT, Kind.FLOAT}


@dataclass(frozen=True)
class _Divisible:
    """A file that may be read in parts: its records stand in bytes `begin` .. `size` - 1."""

    file: InputFile
    format: str
    records: LineRecords
    begin: int
    size: int

    def blocks(self, block_bytes: int, readers: int) -> list[_BlockScan]:
        """Blocks of so many bytes at most, so that each of some readers has as many of them."""
        count = -(-(self.size - self.begin) // block_bytes)
        count = -(-count // readers) * readers
        bounds = [self.begin + (self.size - self.begin) * each // count for each in range(count + 1)]
        return [
            _BlockScan(self.file.location, self.records, *bound, self.begin) for bound in pairwise(bounds)
        ]

    def parts(self, found: Sequence[RecordCut]) -> list[InputFile]:
        """The parts between the places where the file is cut."""
        starts = [RecordCut(0, 0, 0), *found]
        stops = [cut.place for cut in found] + [self.size]
        return [
            replace(
                self.file,
                part=FilePart(cut.place, stop, self.records.header if cut.place else b""),
                records_before=self.file.records_before + cut.records,
                lines_before=cut.lines,
                format=self.format,
                time_forms=(*self.file.time_forms, *self.records.forms),
            )
            for cut, stop in zip(starts, stops, strict=True)
        ]


@dataclass(frozen=True)
class _BlockScan:
    """A block to scan, of a file whose records begin at `begin`."""

    location: Location
    records: LineRecords
    start: int
    stop: int
    begin: int


def read_files(tasks: Sequence[ReadTask], runner: Runner) -> list[FileResult]:
    """Read files, each in one task or in several; returns one result for each, in their order.

    Raises
    ------
    LogFormatError
        As `read_file` does.
    """
    parts = _in_parts(tasks, runner)
    results = iter(_run(runner, [part for of_file in parts for part in of_file]))
    of_files = _alike(parts, [[next(results) for _ in of_file] for of_file in parts], runner)
    found = [_joined(task, of_file) for task, of_file in zip(tasks, of_files, strict=True)]
    whole = [task for task, result in zip(tasks, found, strict=True) if result is None]
    again = iter(_run(runner, whole))
    return [next(again) if result is None else result for result in found]


def _alike(
    parts: Sequence[Sequence[ReadTask]], read: Sequence[list[FileResult]], runner: Runner
) -> Sequence[list[FileResult]]:
    """Parts with what all of a file tells of its times: those that took them otherwise, read again."""
    again: list[tuple[int, int]] = []
    tasks: list[ReadTask] = []
    for number, (of_file, results) in enumerate(zip(parts, read, strict=True)):
        if len(of_file) == 1:
            continue
        known = of_file[0].written.joined(result.written for result in results)
        for place, (task, result) in enumerate(zip(of_file, results, strict=True)):
            if result.chunks and not result.written.agrees_with(known):
                discard(task.scratch, result)
                again.append((number, place))
                tasks.append(replace(task, written=known))
            else:
                forms = dict(sorted({**result.time_forms, **known.forms}.items()))
                results[place] = replace(result, written=known, time_forms=forms)
    for (number, place), result in zip(again, _run(runner, tasks), strict=True):
        read[number][place] = result
    return read


def _run(runner: Runner, tasks: Sequence[ReadTask]) -> list[FileResult]:
    """Read files in a process of their own, but those on a server: a fork has connections, and no threads."""
    local = all(task.file.location.is_local and task.scratch.is_local for task in tasks)
    most = min((task.memory.of_task for task in tasks), default=None)
    alike: dict[object, object] = {}
    with progress_of(tasks) as progress:
        found = results_of(runner, read_bundle, tasks, parser_died if local else None, most, progress)
        return [result.sharing(alike) for result in found]


def _in_parts(tasks: Sequence[ReadTask], runner: Runner) -> list[list[ReadTask]]:
    """The tasks of every file: more than one where it is large and can be cut."""
    size = runner.block_bytes
    if size is None:
        return [[task] for task in tasks]
    files = [_cut(task, size, runner.readers) for task in tasks]
    scans = [
        scan for file in files if isinstance(file, _Divisible) for scan in file.blocks(size, runner.readers)
    ]
    local = all(scan.location.is_local for scan in scans)
    scanned = iter(runner.run(_scan, scans, _unscanned if local else None))
    parts = []
    for task, file in zip(tasks, files, strict=True):
        if not isinstance(file, _Divisible):
            parts.append(file)
            continue
        blocks = [next(scanned) for _ in file.blocks(size, runner.readers)]
        known = [block for block in blocks if block is not None]
        found = cuts(known, file.begin, file.size) if len(known) == len(blocks) else None
        # The beginning of a part alone may look like another format.
        parts.append(
            [replace(task, file=part, input_format=file.format) for part in file.parts(found)]
            if found
            else [task]
        )
    return parts


def _cut(task: ReadTask, block_bytes: int, readers: int) -> _Divisible | list[ReadTask]:
    """A large file of lines that stand alone; of any other its tasks, several where it has row groups."""
    size = task.file.size
    if size is None or size <= block_bytes or task.file.left_out is not None:
        return [task]
    try:
        with open_log(task.file.location) as log:
            if not log.stream.seekable():
                return [task]
            known = format_of(log.head, task.file.name, task.input_format, task.options)
            if known.row_groups is not None:
                return _by_row_groups(task, known.row_groups(log.stream), -(-size // block_bytes), readers)
            if known.lines is None or log.head.startswith(_UTF16):
                return [task]
            first = log.stream.readline(_LONGEST_HEADER)
            records = known.lines(max(first, log.head, key=len), task.options)
            if records is None:
                return [task]
    except LogFormatError:
        return [task]  # reading it will say what is wrong
    marked = log.head.startswith(codecs.BOM_UTF8)
    begin = len(records.header) or (len(codecs.BOM_UTF8) if marked else 0)
    return _Divisible(task.file, known.name, records, begin, size) if begin < size else [task]


def _by_row_groups(task: ReadTask, sizes: Sequence[int], count: int, readers: int) -> list[ReadTask]:
    """About `count` tasks, as many for each of some readers, of about as many row groups each."""
    count = min(-(-count // readers) * readers, len(sizes))
    if count < 2:
        return [task]
    bounds = [len(sizes) * each // count for each in range(count + 1)]
    parts = [RowGroupPart(first, stop, sum(sizes[first:stop])) for first, stop in pairwise(bounds)]
    return [replace(task, file=replace(task.file, part=part)) for part in parts]


def _scan(scan: _BlockScan) -> Passages | None:
    """What stands in a block; None where it cannot be read, which reading will say."""
    try:
        filesystem, path = scan.location.resolve()
        with filesystem.open_input_file(path) as stream:
            first = scan.start == scan.begin
            return scan.records.scan(stream, scan.start, scan.stop, first=first)
    except (LogFormatError, OSError):
        return None


def _unscanned(scan: _BlockScan, cause: str) -> Passages | None:
    """What comes of a block that killed the process which scanned it: reading will say what is wrong."""
    return None


def _joined(task: ReadTask, parts: Sequence[FileResult]) -> FileResult | None:
    """What came of a file from what came of its parts; None where that is not what the whole would give."""
    if len(parts) == 1:
        return parts[0]
    rejects = rejects_of_parts([(part.rejected, part.rejects) for part in parts])
    if rejects is None or any(part.unreadable is not None for part in parts):
        return None
    causes, held = rejects
    named: dict[str, frozenset[Kind]] = {}
    for part in parts:
        for name, kinds in part.named.items():
            named[name] = named.get(name, frozenset()) | kinds
    too_many = task.max_rejects is not None and causes.total() > task.max_rejects
    crowded = REST in named or len(named) + len(FIXED_COLUMNS) + len(task.options.columns) > MOST_ATTRIBUTES
    forms = {form for part in parts for form in part.time_forms.items()}
    # Rows that an open quote swallowed are numbered by the whole file alone.
    if too_many or crowded or OPEN_QUOTE in causes or len(dict(forms)) < len(forms):
        return None
    if "time" not in parts[0].written.whole and _reaches_back(parts):
        return None
    times = TimesSeen()
    for part in parts:
        times.join(part.times)
    whole = FileResult(
        task.file.name,
        parts[0].format,
        tuple(chunk for part in parts for chunk in part.chunks),
        options=parts[0].options,
        repeats=parts[0].repeats,
        records=sum(part.records for part in parts),
        skipped=sum((part.skipped for part in parts), Counter[str]()),
        rejected=causes,
        rejects=held,
        reject_files=tuple(file for part in parts for file in part.reject_files),
        named=named,
        warnings=tuple(dict.fromkeys(warning for part in parts for warning in part.warnings)),
        notes=sum((part.notes for part in parts), Counter[str]()),
        ids_given=any(part.ids_given for part in parts),
        first=min((part.first for part in parts if part.first is not None), default=None),
        last=max((part.last for part in parts if part.last is not None), default=None),
        times=times,
        written=parts[0].written,
        units=sum((part.units for part in parts), Counter[int]()),
        size=sum(part.size for part in parts),
        rules=frozenset[int]().union(*(part.rules for part in parts)),
        patterns=frozenset[int]().union(*(part.patterns for part in parts)),
        time_forms=dict(sorted(forms)),
        read_as=parts[0].read_as,
        other_times=_other_times(parts),
        ends=parts[0].ends if parts[0].ends is None else parts[0].ends.before(parts[-1].ends),
        unneeded=all_unneeded(part.unneeded for part in parts),
    )
    read_alike = all(part.read_as == whole.read_as for part in parts)
    return whole if _is_of_one_kind(whole) and read_alike else None


def _reaches_back(parts: Sequence[FileResult]) -> bool:
    """Whether a part begins with a time without a fraction that is before the end of those before it."""
    ends = [part.ends for part in parts if part.ends is not None]
    return any(after.is_reached_from(before.last) for before, after in pairwise(ends))


def _other_times(parts: Sequence[FileResult]) -> dict[str, OtherTimes]:
    found: dict[str, OtherTimes] = {}
    for part in parts:
        for name, seen in part.other_times.items():
            found[name] = found[name].joined(seen) if name in found else seen
    return found


def _is_of_one_kind(whole: FileResult) -> bool:
    """Whether every attribute whose kind the reader tells is of one kind, or a number, in all records."""
    found = whole.attributes()
    return all(
        len(kinds) < 2 or (kinds == _NUMBERS and found[name].kinds in (kinds, {Kind.FLOAT}))
        for name, kinds in whole.named.items()
    )
