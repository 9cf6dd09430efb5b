"""The whole way from PATHs to an event dataset, which appears at once or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import pyarrow.fs as pafs
import pyarrow.parquet as pq

from cepctl import __version__
from cepctl.clocks.shared import Clocks, clocks_metadata, clocks_of, joined_clocks
from cepctl.datasets.left_behind import left_behind_text
from cepctl.datasets.marker import SUCCESS, dataset_of, is_part, part_name, parts_alone
from cepctl.datasets.observed import observed_text
from cepctl.ingestion.chunk_files import MOST_ARROW_BYTES
from cepctl.ingestion.clocks import with_ties
from cepctl.ingestion.growing_writers import in_growing_order
from cepctl.ingestion.in_one_unit import read_in_one_unit
from cepctl.ingestion.needed import all_unneeded, left_behind
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.ordering import SortedParts, order
from cepctl.ingestion.publishing import aside, publish, refuse_existing
from cepctl.ingestion.read_tasks import read_tasks
from cepctl.ingestion.reading import held_to_size
from cepctl.ingestion.rejects import refuse_mostly_bad, refuse_too_many, write_rejects, write_whole
from cepctl.ingestion.results import FileResult
from cepctl.ingestion.room import in_own_process, is_little
from cepctl.ingestion.schemas import unify
from cepctl.ingestion.spooling import spooled
from cepctl.ingestion.summary import (
    IngestSummary,
    refuse_eventless,
    refuse_unreadable,
    report_text,
    summarised,
)
from cepctl.ingestion.task import ReadTask
from cepctl.ingestion.templates import mine_templates, with_templates
from cepctl.ingestion.time_notes import time_notes
from cepctl.ingestion.unpacking import unpacked
from cepctl.ingestion.unused import unused
from cepctl.ingestion.writer_names import require_columns
from cepctl.ingestion.writer_notes import notes_on_writers
from cepctl.ingestion.writers import Written, in_written_order
from cepctl.ingestion.writing import PartTask, write_part
from cepctl.io.contract.message_template import templates_text
from cepctl.io.contract.reader import LAYOUT, zones_said
from cepctl.io.formats import format_named, open_log
from cepctl.io.source.locations import InputFile, Location, list_inputs, real_uri
from cepctl.laws.storing import laws_as_json
from cepctl.process.memory import MemoryBudget
from cepctl.runners.local import on_all_cores
from cepctl.runners.runner import Runner
from cepctl.schema import (
    META_ASSUMED_ORDER,
    META_CLOCK_RECORDS,
    META_GIVEN,
    META_LAWS,
    META_LAYOUTS,
    META_LEFT_BEHIND,
    META_MODEL,
    META_OBSERVED,
    META_TEMPLATES,
    META_TIME_UNIT,
    META_TYPE_COUNTS,
    META_VERSION,
    META_WRITTEN_UNITS,
    TimeUnit,
)
from cepctl.uncertainty.model import UncertaintyModel

_MOST_LAYOUTS = 100


def ingest(
    paths: Sequence[str], output: str, options: IngestOptions, runner: Runner | None = None
) -> IngestSummary:
    """Turn logs into an event dataset.

    `paths`: files, directories and globs, on any filesystem that Arrow knows; `-` is standard input.
    `output`: directory of the dataset, written aside and renamed when it is whole.  `options`, `runner`: the
    user's choices, and who runs the tasks (None: this process).

    Raises
    ------
    UsageError
        If the output exists and may not be overwritten.
    EventSchemaError
        If an input is a part of a dataset that is incomplete.
    LogFormatError
        If an input is unreadable or of no known format, or there are more rejects than allowed.
    """
    target, runner = Location.of(output), runner or on_all_cores()

    def files(scratch: Location) -> Sequence[InputFile]:
        listed = list_inputs(spooled(paths, scratch), follow_links=options.follow_links)
        return unpacked(_beside(target, listed, paths), scratch, runner.readers)

    def tell_unused(results: Sequence[FileResult], summary: IngestSummary) -> list[str]:
        return unused(options.read, options.type_names, options.model, results, summary.type_counts)

    return _ingest(files, target, options, runner, tell_unused, whole=True)


def ingest_files(files: Sequence[InputFile], output: str, options: IngestOptions) -> IngestSummary:
    """As `ingest`, of files that are known already, in this process."""
    # What fits nothing in some files may fit what comes in others.
    target = Location.of(output)
    return _ingest(lambda _: files, target, options, on_all_cores(), lambda *_: [], whole=False)


def _ingest(
    listed: Callable[[Location], Sequence[InputFile]],
    target: Location,
    options: IngestOptions,
    runner: Runner,
    tell_unused: Callable[[Sequence[FileResult], IngestSummary], list[str]],
    *,
    whole: bool,
) -> IngestSummary:
    zones_said(options.read)
    if options.input_format is not None:
        format_named(options.input_format)
    refuse_existing(target, overwrite=options.overwrite)
    memory = options.memory.shared_by(runner.tasks_at_once)
    with aside(target) as (scratch, events):
        tasks = read_tasks(listed(scratch), scratch, options, memory)
        found = mine_templates(tasks, runner, given=whole)
        tasks = with_templates(tasks, found)
        results, unit = read_in_one_unit(tasks, options.known_kinds, runner)
        if whole:  # else files hold what is new in others
            results = [held_to_size(task, result) for task, result in zip(tasks, results, strict=True)]
        unit_of_times = unit
        parts = [task.file for task in tasks if task.declares_unit]
        footers = [_footer(file) for file in parts]
        assumed = bool(footers) and all(META_ASSUMED_ORDER in each for each in footers if META_GIVEN in each)
        written = _in_written_order(tasks, results, unit, options, scratch, assumed=assumed)
        results, unit = written.results, written.unit
        schema = replace(unify(results, options.known_kinds), writers=written.is_taken, along=written.along)
        ordered = _ordered(results, scratch, len(schema.attributes), memory)
        summary = summarised(results, ordered, schema, unit)
        notices = (
            *parts_alone([dataset_of(file) for file in parts if is_part(file)]),
            *found.notices,
            *notes_on_writers(written),
            *summary.notices,
            *time_notes(results, unit_of_times, options.model),
            *tell_unused(results, summary),
            *_nothing(summary),
        )
        clocks = with_ties(_clocks(results), options.model.rules, [*map(_clocks_in, footers)], unit)
        growth = None if options.growth is None else options.growth.after(written, unit_of_times)
        summary = replace(summary, notices=notices, clocks=clocks, templates=found.templates, growth=growth)
        filesystem, directory = events.resolve()
        _report(options, results, ordered, summary, filesystem)
        _refuse(options, summary)
        if whole:
            refuse_eventless(summary)
        metadata = _metadata(summary, options.model, written) | _layouts_metadata(results)
        metadata |= _left_behind_metadata(results)
        in_arrow = options.in_arrow and _in_arrow(tasks, results)
        once = options.read_once
        made = [
            PartTask(scratch, each, schema, metadata, memory, once, in_arrow, written.of(each))
            for each in ordered.parts
        ]
        _write(directory, scratch, made, runner)
        with filesystem.open_output_stream(f"{directory}/{SUCCESS}"):
            pass
        publish(events, target, overwrite=options.overwrite)
    return summary


def _in_written_order(
    tasks: Sequence[ReadTask],
    results: list[FileResult],
    unit: TimeUnit,
    options: IngestOptions,
    scratch: Location,
    *,
    assumed: bool,
) -> Written:
    """Results whose events say who wrote them, in the unit that has room for all.

    `assumed`: of no dataset among the input anybody said that its records are in order.
    """
    if options.writers == () or (assumed and not options.orders_lines):
        return Written(results, unit)
    for task in tasks[:1]:
        require_columns(results, task.writing, in_model=options.writers is None)
    filesystem, _ = scratch.resolve()
    stored, unsaid = [task.declares_unit for task in tasks], [task.writing.of_lines for task in tasks]
    is_given = options.model.time_unit is not None
    if options.growth is not None:
        return in_growing_order(
            *(results, unit, filesystem, options.growth),
            stored=stored,
            unsaid=unsaid,
            unit_is_given=is_given,
        )
    return in_written_order(
        *(results, unit, filesystem),
        stored=stored,
        unsaid=unsaid,
        assumed=assumed,
        unit_is_given=is_given,
    )


def _in_arrow(tasks: Sequence[ReadTask], results: Sequence[FileResult]) -> bool:
    """Whether parts are written in Arrow, as the chunks that were read were, if these are small."""
    size = sum(result.size for result in results)
    return any(task.in_arrow for task in tasks) and size <= MOST_ARROW_BYTES


def _report(
    options: IngestOptions,
    results: Sequence[FileResult],
    ordered: SortedParts,
    summary: IngestSummary,
    filesystem: pafs.FileSystem,
) -> None:
    """Write the rejects, and the account of every file, where they are asked for."""
    if options.rejects is not None:
        pieces = [piece for result in results for piece in result.reject_files]
        write_rejects(options.rejects, pieces, filesystem, ordered.left_out.duplicate_rejects(results))
    if options.report is not None:
        write_whole(options.report, [report_text(summary).encode()], "the report")


def _refuse(options: IngestOptions, summary: IngestSummary) -> None:
    """Raise LogFormatError where a file was unreadable, or more records bad than are allowed."""
    refuse_unreadable(summary)
    counted = (summary.rejects, summary.rejected, summary.records)
    refuse_too_many(*counted, options.max_errors)
    if not options.is_rest:
        refuse_mostly_bad(*counted, summary.events, options.max_errors)


def _nothing(summary: IngestSummary) -> list[str]:
    """That there is no event, and why, where no record was bad."""
    if summary.events:
        return []
    if summary.records:
        return [f"none of the {summary.records:,} records gives an event yet"]
    return ["the input has no records: the dataset has no events"]


def _beside(target: Location, files: Sequence[InputFile], paths: Sequence[str]) -> list[InputFile]:
    """The files without those of an earlier output that lies inside the input."""
    named = {real_uri(Location.of(path)) for path in paths}
    inside = f"{real_uri(target).rstrip('/')}/"
    places = [(file, real_uri(file.location)) for file in files]
    return [file for file, place in places if place in named or not place.startswith(inside)]


def _footer(file: InputFile) -> dict[bytes, bytes]:
    """What a part of a dataset says of it."""
    with open_log(file.location) as log:
        metadata: dict[bytes, bytes] = pq.read_schema(log.stream).metadata
    return metadata


def _clocks_in(footer: dict[bytes, bytes]) -> tuple[Clocks, TimeUnit]:
    """The clocks that a part of a dataset names, and the unit that they are counted in."""
    return clocks_of(footer), TimeUnit.parse(footer[META_TIME_UNIT].decode())


def _ordered(
    results: Sequence[FileResult], scratch: Location, columns: int, memory: MemoryBudget
) -> SortedParts:
    def ordered(read: Sequence[FileResult]) -> SortedParts:
        return order(read, scratch.resolve()[0], columns, memory)

    return in_own_process(ordered, results, "putting the events in order", memory, local=scratch.is_local)


def _write(directory: str, scratch: Location, tasks: Sequence[PartTask], runner: Runner) -> None:
    filesystem, _ = scratch.resolve()
    little = any(is_little(task.memory, runner.readers) for task in tasks)
    run = runner.run if little else runner.run_in_threads
    for number, path in enumerate(run(_write_part, tasks)):
        ending = PurePosixPath(path).suffix
        filesystem.move(path, f"{directory}/{part_name(number, ending)}")


def _write_part(task: PartTask) -> str:
    step = "writing a part of the dataset"
    return in_own_process(write_part, task, step, task.memory, local=task.scratch.is_local)


def _clocks(results: Sequence[FileResult]) -> Clocks:
    """The clocks of all files; raises EventSchemaError where one has two offsets."""
    return joined_clocks([chunk.clocks for result in results for chunk in result.chunks])


def _layouts_metadata(results: Sequence[FileResult]) -> dict[bytes, bytes]:
    """Layouts that were learned from some files, with how surely."""
    learned = [(each.name, each.time_forms[LAYOUT]) for each in results if LAYOUT in each.time_forms]
    kept = dict(learned[:_MOST_LAYOUTS])
    return {META_LAYOUTS: json.dumps(kept, ensure_ascii=False).encode()} if kept else {}


def _left_behind_metadata(results: Sequence[FileResult]) -> dict[bytes, bytes]:
    """What is known of the events that were read and are not in the dataset."""
    left = left_behind(all_unneeded(result.unneeded for result in results))
    return {} if left is None else {META_LEFT_BEHIND: left_behind_text(left)}


def _metadata(summary: IngestSummary, model: UncertaintyModel, written: Written) -> dict[bytes, bytes]:
    given = dict.fromkeys((*model.given, *((written.given,) if written.given is not None else ())))
    records = {META_CLOCK_RECORDS: json.dumps(model.records, ensure_ascii=False).encode()}
    return {
        META_TIME_UNIT: str(summary.time_unit).encode(),
        META_VERSION: __version__.encode(),
        META_MODEL: model.text.encode(),
        META_TYPE_COUNTS: json.dumps(summary.type_counts, ensure_ascii=False).encode(),
        **(records if model.records else {}),
        **({META_GIVEN: json.dumps([*given], ensure_ascii=False).encode()} if given else {}),
        **({META_ASSUMED_ORDER: b"lines of logs"} if written.is_assumed else {}),
        **({META_WRITTEN_UNITS: b"apart"} if written.given is not None and written.in_units else {}),
        **({META_LAWS: laws_as_json(model.laws)} if model.laws else {}),
        **({} if model.observed is None else {META_OBSERVED: observed_text(model.observed)}),
        **clocks_metadata(summary.clocks),
        **({META_TEMPLATES: templates_text(summary.templates)} if summary.templates else {}),
    }
