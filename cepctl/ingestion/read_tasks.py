"""From the files that are named to the tasks that read them, and what is known of their times before that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.errors import UncertaintyModelError
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.room import is_little
from cepctl.ingestion.task import ReadTask
from cepctl.ingestion.writer_names import Writing
from cepctl.ingestion.written_units import KnownTimes, finest, unit_of_rules
from cepctl.io.formats import open_log
from cepctl.io.source.hollow_files import hollow
from cepctl.io.source.locations import InputFile, Location
from cepctl.io.source.neighbours import dated_neighbours
from cepctl.process.memory import MemoryBudget
from cepctl.runners.local import LocalRunner
from cepctl.schema import META_TIME_UNIT, MILLISECOND, TimeUnit
from cepctl.uncertainty.model import Rule

MOST_READ_IN_ARROW = 256 << 20
LEAST_LEFT_BEHIND = 8 << 20
"""Of input of fewer bytes all events are kept."""


def read_tasks(
    files: Sequence[InputFile], scratch: Location, options: IngestOptions, memory: MemoryBudget
) -> list[ReadTask]:
    """A task for each file; what is not to be read is left out, with the reason."""
    files = [_unless_hollow(file) for file in files]
    declared = _declared_units(files)
    written = _written_before(options, declared)
    in_arrow = _may_take_room(files, scratch, memory)
    neighbours, tasks = dated_neighbours(files), []
    for number, (file, unit, neighbour) in enumerate(zip(files, declared, neighbours, strict=True)):
        task = _read_task(file, number, scratch, options, written, memory)
        own = replace(task.options, neighbour=neighbour)
        tasks.append(replace(task, options=own, declares_unit=unit is not None, in_arrow=in_arrow))
    much = sum(file.size or 0 for file in files) >= LEAST_LEFT_BEHIND
    return [replace(task, needed=options.needed) for task in tasks] if much and options.needed else tasks


def _unless_hollow(file: InputFile) -> InputFile:
    """A file, which is left out where reading it would take as long as its holes are."""
    if file.left_out is not None or file.size is None or not file.location.is_local:
        return file
    return replace(file, left_out=hollow(Path(file.location.resolve()[1]), file.size, file.name))


def _may_take_room(files: Sequence[InputFile], scratch: Location, memory: MemoryBudget) -> bool:
    """Whether chunks may take several times the room of Parquet on this disk, and a part memory."""
    size = sum(file.size or 0 for file in files)
    return size <= MOST_READ_IN_ARROW and scratch.is_local and not is_little(memory)


def _read_task(
    file: InputFile,
    number: int,
    scratch: Location,
    options: IngestOptions,
    written: KnownTimes,
    memory: MemoryBudget,
) -> ReadTask:
    """The task of one file whose own ticks are of one unit.

    Only where nobody wants to see all rejects may it stop at the first too many.
    """
    keep, ticks = options.rejects is not None, options.model.time_unit or MILLISECOND
    return ReadTask(
        file,
        number,
        scratch,
        replace(options.read, time_unit=ticks, modified=file.modified, strict=options.strict),
        options.model,
        written.with_forms(dict(file.time_forms)),
        options.type_names,
        file.format or options.input_format,
        may_be_unreadable=file.found and not options.strict,
        keep_rejects=keep,
        max_rejects=None if keep else options.max_errors,
        memory=memory,
        writing=_writing(options),
    )


def _writing(options: IngestOptions) -> Writing:
    """Who wrote the events of a file."""
    if options.writers is not None:
        return Writing(tuple(Rule(number, writer=each) for number, each in enumerate(options.writers, 1)))
    if any(rule.writer is not None for rule in options.model.rules):
        return Writing(options.model.rules)
    return Writing(of_lines=options.orders_lines)


def _declared_units(files: Sequence[InputFile]) -> list[TimeUnit | None]:
    """The time units that Parquet files say they are counted in."""
    parquet = [file for file in files if _is_parquet(file)]
    local = all(file.location.is_local for file in parquet)
    units = LocalRunner().run(_unit_in_footer, parquet, (lambda *_: None) if local else None)
    found = dict(zip(parquet, units, strict=True))
    return [found.get(file) for file in files]


def _is_parquet(file: InputFile) -> bool:
    if file.left_out is not None:
        return False
    with open_log(file.location) as log:
        return log.head.startswith(b"PAR1") and log.stream.seekable()


def _unit_in_footer(file: InputFile) -> TimeUnit | None:
    with open_log(file.location) as log:
        try:
            written = (pq.read_schema(log.stream).metadata or {}).get(META_TIME_UNIT)
            return None if written is None else TimeUnit.parse(written.decode())
        except (pa.ArrowException, OSError, UnicodeDecodeError, UncertaintyModelError):
            return None  # the reader will say what is wrong


def _written_before(options: IngestOptions, declared: Sequence[TimeUnit | None]) -> KnownTimes:
    """What is known of all times before a file is read."""
    unit = options.model.time_unit or options.known_unit
    if unit is not None:
        return KnownTimes(unit if options.model.time_unit else finest([unit, *filter(None, declared)]))
    if declared and None not in declared:
        return KnownTimes(finest(filter(None, declared)))
    return KnownTimes(
        finest([unit_of_rules(options.model.rules), *filter(None, declared)]), may_be_finer=True
    )
