"""What an ingest did, file by file and as a whole: for people, and as JSON (`--report`)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from cepctl.clocks.shared import Clocks
from cepctl.errors import LogFormatError
from cepctl.ingestion.growing_writers import Growth
from cepctl.ingestion.ordering import SortedParts
from cepctl.ingestion.rejects import RejectLog
from cepctl.ingestion.results import FileAccount, FileResult, FileTimes
from cepctl.ingestion.schemas import DatasetSchema
from cepctl.io.contract.message_template import MessageTemplate
from cepctl.io.contract.reader import NO_ZONE, Reject
from cepctl.schema import TimeUnit, tick_text

_SHOWN = 20
_FILES_NAMED = 5
"""Of more files than these the same is said once."""


@dataclass(frozen=True)
class IngestSummary:
    """What an ingest did.

    `rejected` counts the rejects by cause, `rejects` are the first few of each; `notices` are for
    people; `accounts` has one entry per file, in order of their names, those left out among them; `templates`
    are those that types were given by; `times` what each file told of its times; `growth` what is
    decided of the order of logs that grow.
    """

    files: int
    records: int
    events: int
    time_unit: TimeUnit
    type_counts: dict[str, int]
    skipped: Counter[str]
    rejected: Counter[str]
    rejects: tuple[Reject, ...]
    notices: tuple[str, ...]
    accounts: tuple[FileAccount, ...] = ()
    clocks: Clocks = field(default_factory=dict)
    templates: tuple[MessageTemplate, ...] = ()
    times: tuple[FileTimes, ...] = ()
    growth: Growth | None = None

    @property
    def unreadable(self) -> tuple[FileAccount, ...]:
        """The files that were left out because they cannot be read."""
        return tuple(account for account in self.accounts if account.unreadable is not None)


def summarised(
    results: Sequence[FileResult], ordered: SortedParts, schema: DatasetSchema, unit: TimeUnit
) -> IngestSummary:
    """Add up what came of the files; duplicate ids are rejects of the file that brought them last."""
    held = RejectLog()
    by_file: dict[str, RejectLog] = {}
    for reject in ordered.left_out.duplicate_rejects(results):
        held.append(reject)
        by_file.setdefault(reject.source, RejectLog()).append(reject)
    accounts = tuple(
        _account(result, ordered, place, by_file.get(result.name), unit)
        for place, result in enumerate(results)
    )
    type_counts = _total(account.event_types for account in accounts)
    return IngestSummary(
        files=sum(result.unreadable is None for result in results),
        records=sum(result.records for result in results),
        events=type_counts.total(),
        time_unit=unit,
        type_counts=dict(sorted(type_counts.items())),
        skipped=_total(account.skipped for account in accounts),
        rejected=_total([held.causes, *(result.rejected for result in results)]),
        rejects=(*(reject for result in results for reject in result.rejects), *held),
        notices=(*_notices(results), *schema.warnings),
        accounts=accounts,
        times=tuple(FileTimes.of(result) for result in results if result.unreadable is None),
    )


def _total(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    """All counts, one added to the others at a time: many files may have many types."""
    total = Counter[str]()
    for each in counts:
        total.update(each)
    return total if all(count > 0 for count in total.values()) else +total


def _account(
    result: FileResult, ordered: SortedParts, place: int, duplicates: RejectLog | None, unit: TimeUnit
) -> FileAccount:
    types = ordered.type_counts.get(place, {})
    repeated = Counter[str]()
    if result.repeats is not None:
        repeated[result.repeats.called] = ordered.left_out.repeated.get(place, 0)
    return FileAccount(
        file=result.name,
        format=result.format,
        records=result.records,
        events=sum(types.values()),
        event_types=dict(types),
        rejected=dict(result.rejected + (duplicates.causes if duplicates else Counter())),
        skipped=dict(result.skipped + repeated),
        first=None if result.first is None else tick_text(result.first, unit),
        last=None if result.last is None else tick_text(result.last, unit),
        granularity=result.times.step,
        unreadable=result.unreadable,
        warnings=result.remarks,
        time_forms=dict(result.time_forms),
    )


def _notices(results: Sequence[FileResult]) -> list[str]:
    """What each file is to be told of; what is the same of many files is said once, of all of them.

    So is which instants were taken to be meant, of however few: it is one choice, and one option changes it.
    """
    noted: dict[str, list[FileResult]] = {}
    for result in results:
        for note in +result.notes:
            noted.setdefault(note, []).append(result)
    of_many = {
        note: files for note, files in noted.items() if len(files) > (1 if note == NO_ZONE else _FILES_NAMED)
    }
    by_file = [
        f"{result.name}: {remark}" for result in results for remark in result.remarks_without(of_many.keys())
    ]
    together = [
        f"{len(files):,} files, {files[0].name} the first: "
        + note.format(sum(result.notes[note] for result in files))
        for note, files in sorted(of_many.items())
    ]
    days = [
        f"{result.name}: every time is a local midnight, so each stands for its whole day"
        for result in results
        if result.day_grained
    ]
    return [*by_file, *together, *days]


def refuse_unreadable(summary: IngestSummary) -> None:
    """Raise LogFormatError when no file could be read; where some could, the others are left out."""
    if summary.accounts and len(summary.unreadable) == len(summary.accounts):
        raise LogFormatError(f"no file could be read\n{reasons(summary.unreadable)}")


def refuse_eventless(summary: IngestSummary) -> None:
    """Raise LogFormatError when there were records and none became an event."""
    if summary.events or not summary.records:
        return
    causes = [f"  {count:,} skipped: {cause}" for cause, count in sorted(summary.skipped.items())]
    raise LogFormatError(
        "\n".join(
            [
                f"none of {summary.records:,} records gives an event; nothing was written",
                *causes,
                "  name the format if it is another one (cepctl formats), or make events of lines: "
                "--patterns FILE",
            ]
        )
    )


def reasons(unreadable: Sequence[FileAccount]) -> str:
    """Why files were left out, one per line, for standard error."""
    lines = [f"  {account.unreadable}" for account in unreadable[:_SHOWN]]
    if len(unreadable) > _SHOWN:
        lines.append(f"  ... and {len(unreadable) - _SHOWN:,} more; all are in the file of --report")
    return "\n".join(lines)


def report_text(summary: IngestSummary) -> str:
    """The summary as JSON: totals, then one object per file, as FileAccount has it."""
    totals = {
        "files": summary.files,
        "unreadable": len(summary.unreadable),
        "records": summary.records,
        "events": summary.events,
        "time_unit": str(summary.time_unit),
        "event_types": summary.type_counts,
        "rejected": dict(summary.rejected),
        "skipped": dict(summary.skipped),
        **({"clocks": dict(summary.clocks)} if summary.clocks else {}),
        "notices": summary.notices,
        "by_file": [asdict(account) for account in summary.accounts],
    }
    return json.dumps(totals, ensure_ascii=False, indent=2) + "\n"
