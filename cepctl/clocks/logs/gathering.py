"""Files of logs -> the rows of each host, kept on disk until it is the host's turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from cepctl.clocks.logs.hosts import HostNames
from cepctl.errors import LogFormatError, UsageError
from cepctl.ingestion.spooling import spooled
from cepctl.ingestion.unpacking import unpacked
from cepctl.io.clocks.contract import MESSAGES, Account
from cepctl.io.clocks.kinds import clock_log
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.formats import open_log
from cepctl.io.source.locations import InputFile, Location, list_inputs

_ROWS_HELD = 1 << 17
UNKNOWN = "not a log of a clock that is known"


@dataclass(frozen=True)
class ReadLog:
    """What reading one file gave beside its rows: how many there are, and why the rest of it is damaged."""

    file: str
    log: str
    rows: int
    account: Account
    damage: str | None = None


@dataclass(frozen=True)
class LogLeftOut:
    """A file in a folder that is not read, and why."""

    file: str
    cause: str


@dataclass(frozen=True)
class KeptPart:
    """Some rows of a host, kind and file, on disk: the first and last reading, whether none goes back."""

    path: Path
    file: int
    rows: int
    first: int
    last: int
    rises: bool


@dataclass
class GatheredRows:
    """The rows of all files: parts on disk by host and kind of rows, and what was found on the way.

    `parts` are the files of a host, kind and input file, in order.
    """

    folder: Path
    files: list[str] = field(default_factory=list)
    read: list[ReadLog] = field(default_factory=list)
    left_out: list[LogLeftOut] = field(default_factory=list)
    parts: dict[str, dict[str, dict[int, list[KeptPart]]]] = field(default_factory=dict)
    _held: dict[tuple[str, str, int], list[pl.DataFrame]] = field(default_factory=dict)
    _rows: int = 0
    _written: int = 0

    def add(self, host: str, kind: str, file: int, rows: pl.DataFrame) -> None:
        """Take rows in."""
        self._held.setdefault((host, kind, file), []).append(rows)
        self._rows += len(rows)
        if self._rows >= _ROWS_HELD:
            self.write()

    def write(self) -> None:
        """Write what is held."""
        for (host, kind, file), frames in self._held.items():
            path = self.folder / f"{self._written:08d}.arrow"
            rows = pl.concat(frames).with_columns(
                file=pl.lit(file, dtype=pl.Int32), line=pl.col("line").cast(pl.Int32)
            )
            rows.write_ipc(path)
            self._written += 1
            times = rows["time"].to_numpy()
            rises = bool((times[1:] >= times[:-1]).all())
            part = KeptPart(path, file, len(rows), int(times[0]), int(times[-1]), rises)
            self.parts.setdefault(host, {}).setdefault(kind, {}).setdefault(file, []).append(part)
        self._held, self._rows = {}, 0

    @property
    def hosts(self) -> list[str]:
        """The hosts that have rows, by name."""
        return sorted(host for host, kinds in self.parts.items() if kinds.keys() - {MESSAGES})


def gathered(paths: Sequence[str], names: HostNames, options: ReadOptions, folder: Path) -> GatheredRows:
    """Read all logs that paths name (files, folders, globs, `-`), into a folder that is there.

    Raises
    ------
    LogFormatError
        If a file that is named cannot be read, or no log of a clock is found.
    UsageError
        If nothing tells the host of a log.
    """
    scratch = Location(str(folder))
    found = GatheredRows(folder)
    files = unpacked(list_inputs(spooled(paths, scratch)), scratch)
    for file in files:
        try:
            _read(file, names, options, found)
        except LogFormatError as problem:
            if not file.found:
                raise
            found.left_out.append(LogLeftOut(file.name, str(problem)))
    found.write()
    if not found.read:
        raise LogFormatError(
            f"no log of a clock in {', '.join(paths)}: cepctl help clocks lists those that are read"
        )
    if not found.hosts:
        raise LogFormatError(f"no row of a clock in {', '.join(paths)}: {_why_no_row(found.read)}")
    names.refuse_unused()
    return found


def _why_no_row(logs: Sequence[ReadLog]) -> str:
    """What the lines of logs are, none of which is a row."""
    causes = sum((log.account.not_understood for log in logs), Counter[str]())
    causes.update(sum((log.account.passed_over for log in logs), Counter[str]()))
    return (
        "; ".join(f"{what}: {count:,}" for what, count in causes.most_common() if count) or "no line at all"
    )


def _read(file: InputFile, names: HostNames, options: ReadOptions, found: GatheredRows) -> None:
    if file.left_out is not None:
        raise LogFormatError(file.left_out)
    with open_log(file.location) as opened:
        log = clock_log(opened.head)
        if log is None:
            raise LogFormatError(f"{file.name}: {UNKNOWN if opened.head else 'the file is empty'}")
        number, account, rows = len(found.files), Account(), 0
        found.files.append(file.name)
        known: str | None = None
        reading = ReadOptions(time_zone=options.time_zone, modified=file.modified)
        for batch in log.read(opened.stream, file.name, reading, account):
            frame = batch.rows
            if frame["host"].null_count():
                known = known or _host(file, names)
                frame = frame.with_columns(pl.col("host").fill_null(known))
            rows += len(frame) if batch.kind != MESSAGES else 0
            for (host,), own in frame.partition_by("host", as_dict=True).items():
                found.add(str(host), batch.kind, number, own.drop("host"))
        rejected = [each.text for each in account.report.rejects]
        damage = opened.damage or file.damage or next(iter(rejected), None)
    found.read.append(ReadLog(file.name, log.name, rows, account, damage))


def _host(file: InputFile, names: HostNames) -> str:
    host = names.host_of(file)
    if host is None:
        raise UsageError(
            f"{file.name}: nothing tells whose clock it is; say where its path has the host, such as "
            f"--host '*/{{host}}/{Path(file.name).name}*', or name it: --map {file.name}=HOST"
        )
    return host
