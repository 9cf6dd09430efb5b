"""What there is to tell of the order in which processes wrote their records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cepctl.ingestion.writers import MOST_STEPS_BACK, Written, WrittenLog
from cepctl.numeric.lengths import seconds_text
from cepctl.schema import TimeUnit

_SHOWN_STEPS = 3
_FILES_NAMED = 3


def notes_on_writers(written: Written) -> Iterator[str]:
    """Whose order is evidence, where records step back, who wrote nothing, and whether all have room."""
    yield from _of_lines([each for each in written.logs if each.unsaid], written)
    for log in written.logs:
        if log.is_taken and log.eras.count:
            yield f"{log.name}: {_steps_back(log, written.unit)}"
    said = [each for each in written.logs if not each.unsaid]
    for log in said:
        if log.unwritten:
            yield f"{log.name}: events of no writer, where that is null: {log.unwritten:,}"
        if 1 < log.eras.events == log.writers:
            yield (
                f"{log.name}: each writer has one event, so that no order is known; name columns that all "
                "events of one process share (--writer source)"
            )
    if written.finer > 1 and said and not written.grow:
        sharing = sum(each.shared.sharing for each in written.logs if each.is_taken)
        yield f"ticks of {written.unit}, so that {sharing:,} records have room that share a stamp"
    yield from _crowded([each for each in written.logs if each.is_taken], written)


def _steps_back(log: WrittenLog, unit: TimeUnit) -> str:
    if not any(ticks for _, ticks in log.eras.worst):
        have = _count(log.eras.count, "record has", "records have")
        return f"{have} no tick left behind the record before; what lies before and after is not ordered"
    if 1 < log.eras.count == log.eras.events - log.writers:
        return (
            f"all {log.eras.count:,} records after the first step back in time, so that nothing is ordered; "
            "if the newest stands first, turn the file round (tac)"
        )
    return (
        f"{_count(log.eras.count, 'record steps', 'records step')} back in time, and what lies before and "
        f"after is not ordered ({_worst(log, unit)})"
    )


def _of_lines(logs: Sequence[WrittenLog], written: Written) -> Iterator[str]:
    """That lines of logs are in order where nobody said so, and where they are not."""
    taken = [each for each in logs if each.matters or (written.grow and each.is_taken)]
    if taken:
        is_one, room = len(taken) == 1, ""
        if written.finer > 1 and not written.grow:
            sharing = sum(each.shared.sharing for each in taken)
            room = f", in ticks of {written.unit}, so that {sharing:,} have room that share a stamp"
        yield (
            f"{_named(taken)}: the lines of {'a host' if is_one else 'each file and host'} happened in the "
            f"order in which they stand{room}; --no-writer leaves that out"
        )
    left = [each for each in logs if not each.is_taken]
    for log in left[:_FILES_NAMED]:
        yield (
            f"{log.name}: {log.eras.count:,} of {log.eras.events:,} lines step back in time, more than 1 in "
            f"{round(1 / MOST_STEPS_BACK)}, so that their order says nothing ({_worst(log, written.unit)}); "
            "if it does, --writer says whose: --writer source"
        )
    if len(left) > _FILES_NAMED:
        yield f"{_named(left[_FILES_NAMED:])}: as many lines step back, so that their order says nothing"


def _named(logs: Sequence[WrittenLog]) -> str:
    if len(logs) <= _FILES_NAMED:
        return ", ".join(each.name for each in logs)
    return f"{len(logs):,} files, {logs[0].name} the first"


def _count(number: int, one: str, several: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {several}"


def _worst(log: WrittenLog, unit: TimeUnit) -> str:
    """The worst steps: which record, and by how much; a tick less than an hour is an hour."""
    lengths = ((along, float(f"{ticks * unit.nanoseconds / 1e9:.6g}")) for along, ticks in log.eras.worst)
    return ", ".join(f"record {along:,} by {seconds_text(each)}" for along, each in [*lengths][:_SHOWN_STEPS])


def _crowded(logs: Sequence[WrittenLog], written: Written) -> Iterator[str]:
    """That records have less room than they should have."""
    needed = max((each.shared.needed for each in logs), default=1)
    if needed <= written.finer:
        return
    records, ticks = next(each.shared.crowded for each in logs if each.shared.needed == needed)
    shared = _count(ticks * written.finer, "tick", "ticks")
    yield (
        f"{records:,} records of one writer share {shared} of {written.unit}, of "
        "which a thousandth should be theirs; let ticks be finer (--time-unit), or leave the order out "
        "(--no-writer)"
    )
