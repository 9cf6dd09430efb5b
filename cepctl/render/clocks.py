"""What is said of logs of clocks: a line per host, and a line for each thing that could not be used."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from cepctl.clocks.logs.gathering import GatheredRows, ReadLog
from cepctl.clocks.logs.summary import HostSummary
from cepctl.render.counting import counted, ticks_text
from cepctl.schema import TimeUnit

_NANOSECOND = TimeUnit.parse("1 ns")
_SECOND = 10**9
# An option of ingest; a log of a clock tells its years by journalctl -o short-iso.
_EPOCH = "; --epoch"


def host_line(host: HostSummary) -> str:
    """The figures of a host on one line."""
    bound = (
        "no bound" if host.worst_bound is None else f"worst bound {ticks_text(host.worst_bound, _NANOSECOND)}"
    )
    extra = (
        (host.equal, "equal to others and counted once"),
        (host.borrowed, "with a bound of other logs of this host"),
        (host.given, "with the bound of --bound"),
    )
    return "; ".join(
        [
            f"{host.host}: {counted(host.rows, 'row')} of {host.rows_of}, {instant(host.first)} to "
            f"{instant(host.last)}, {bound}",
            f"{counted(host.steps, 'step')}, {counted(host.gaps, 'gap')}, "
            f"{counted(host.unsynchronised, 'stretch', 'stretches')} without synchronisation",
            f"{counted(host.pieces, 'piece')} in {counted(host.segments, 'segment')}",
            *(f"{counted(number, 'row')} {what}" for number, what in extra if number),
            *([f"{', '.join(host.lends)} only lend bounds"] if host.lends else []),
        ]
    )


def instant(nanoseconds: int) -> str:
    """A reading in UTC, to the second.

    Examples
    --------
    >>> instant(1_772_442_012_750_000_000)
    '2026-03-02 09:00:12'
    """
    return datetime.fromtimestamp(nanoseconds // _SECOND, UTC).strftime("%Y-%m-%d %H:%M:%S")


def problem_lines(log: ReadLog) -> Iterator[str]:
    """What of a file could not be used, by cause, with the numbers of the first lines."""
    for cause, count in sorted(log.account.not_understood.items()):
        where = _numbers(log.account.lines[cause], count)
        yield f"{log.file}: {counted(count, 'line')} not understood: {cause} ({where})"
    beyond = log.account.beyond_bound
    if beyond:
        first = sorted(beyond)[:5]
        yield (
            f"{log.file}: {counted(len(beyond), 'estimate')} outside of its own bound, which is "
            f"widened to it ({_numbers(first, len(beyond))})"
        )
    if log.damage:
        yield f"{log.file}: damaged: {log.damage}; what came before is used"


def note_lines(log: ReadLog) -> Iterator[str]:
    """What of a file says nothing of the clock, and how its times were read."""
    for what, count in sorted(log.account.passed_over.items()):
        if count:
            yield f"{log.file}: passed over {what}: {count:,}"
    for note, count in sorted(log.account.report.notes.items()):
        yield f"{log.file}: {note.format(count).partition(_EPOCH)[0]}"


def steps_without_rows(found: GatheredRows) -> Iterator[str]:
    """Hosts whose messages tell of steps, but which have no rows."""
    for host in sorted(found.parts.keys() - set(found.hosts)):
        yield f"{host}: messages tell of steps of its clock, but no log has rows of it"


def _numbers(lines: list[int], count: int) -> str:
    shown = ", ".join(f"{line:,}" for line in lines)
    return f"line {shown}" if count == 1 else f"lines {shown}{', ...' if count > len(lines) else ''}"
