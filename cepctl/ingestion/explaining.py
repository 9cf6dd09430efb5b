"""How the first records of a file are understood: what `cepctl ingest --explain` shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

from cepctl.errors import EventSchemaError, LogFormatError
from cepctl.ingestion.options import IngestOptions
from cepctl.io.contract.reader import ReadReport
from cepctl.io.formats import format_of, open_log
from cepctl.io.source.locations import InputFile, list_inputs
from cepctl.io.source.neighbours import dated_neighbours
from cepctl.io.templates.survey import survey_of, templates_of
from cepctl.io.trial import with_trial

SHOWN = 3
_HEAD_BYTES = 1 << 16
_NOT_FIELDS = frozenset(("number", "event_id", "event_type", "time", "before", "after", "zone_seconds"))


@dataclass(frozen=True)
class ExplainedRecord:
    """One record: its number, its type, its time, how far that may be off, and its attributes."""

    number: int
    event_type: str
    time: str
    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ExplainedFile:
    """How a file is understood: its format, what was found of its layout, and its first records."""

    name: str
    format: str
    description: str
    found: tuple[tuple[str, str], ...]
    records: tuple[ExplainedRecord, ...]
    notes: tuple[str, ...]


def explained_files(paths: Sequence[str], options: IngestOptions) -> list[ExplainedFile]:
    """How the beginnings of files are understood; nothing is written.

    Raises
    ------
    LogFormatError
        If a file is of no known format, or its beginning cannot be read.
    """
    files = list_inputs(paths)
    return [
        _explained(file, neighbour, options)
        for file, neighbour in zip(files, dated_neighbours(files), strict=True)
        if file.left_out is None
    ]


def _explained(file: InputFile, neighbour: str | None, options: IngestOptions) -> ExplainedFile:
    read = replace(options.read, modified=file.modified, neighbour=neighbour)
    with open_log(file.location) as log:
        known = format_of(log.head, file.name, options.input_format, read)
        # A stream of the beginning alone, up to a line end, where the format is one of lines.
        cut = log.head.rfind(b"\n") + 1
        whole = (known.lines is None and known.messages is None) or not cut
        head = log.stream.read() if whole else log.head[: min(cut, _HEAD_BYTES)]
    if known.messages is not None:
        mined = templates_of(survey_of(known.messages(BytesIO(head), file.name, read)), read.templates)
        read = replace(read, templates=mined.templates)
    report = ReadReport()
    rows: list[dict[str, Any]] = []
    try:
        for batch in known.read(BytesIO(head), file.name, read, report):
            rows += batch.slice(0, SHOWN - len(rows)).to_pylist()
            if len(rows) >= SHOWN:
                break
    except (LogFormatError, EventSchemaError) as problem:
        raise type(problem)(with_trial(str(problem), known, head, read)) from problem
    notes = (*report.warnings, *(note.format(count) for note, count in report.notes.items() if count))
    if not rows:
        notes = (*notes, _why_none(report))
    # Those with a dot are for readers of other parts of a file.
    found = tuple((name, form) for name, form in report.time_forms.items() if "." not in name)
    return ExplainedFile(file.name, known.name, known.description, found, tuple(map(_record, rows)), notes)


def _why_none(report: ReadReport) -> str:
    """Why none of the first records of a file is shown."""
    if report.rejects:
        first = report.rejects[0]
        place = "" if first.line is None else f" on line {first.line:,}"
        return f"none of its first records becomes an event; the first{place}: {first.cause}: {first.text}"
    if report.skipped:
        return f"none of its first records gives an event: {', '.join(sorted(report.skipped))}"
    return "it has no records"


def _record(row: dict[str, Any]) -> ExplainedRecord:
    reach = int(row["after"] or 0)
    time = "none" if row["time"] is None else row["time"].isoformat()
    attributes = tuple(
        (name, str(value))
        for name, value in row.items()
        if name not in _NOT_FIELDS and not name.startswith("cepctl.") and value is not None
    )
    late = f", up to {reach + 1:,} us later" if reach else ""
    return ExplainedRecord(int(row["number"]), str(row["event_type"]), f"{time}{late}", attributes)
