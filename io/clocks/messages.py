"""What daemons say in syslog or the journal: the offsets of linuxptp, and that a clock was set.

    program                  message                                                   ahead
    ptp4l                    master offset N sS freq F path delay D                    N ns
    phc2sys                  CLOCK_REALTIME phc offset N sS freq F delay D             N ns
    ts2phc                   DEVICE master offset N sS freq F                          N ns
    chronyd                  System clock was stepped by X seconds                     set forward by X s
    ntpd                     time stepped by X s, time reset X s                       set forward by X s

N is the clock less its master.  S is 0 for a servo that is not locked, 1 where it sets the clock next, 2
where it is locked.  `rms R max M ...` has no sign and is no estimate.  The number in brackets is of a clock
that counts since the start of the machine: only the prefix of syslog or the journal tells the time.

Source: linuxptp, ptp4l(8), phc2sys(8), ts2phc(8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import polars as pl

from cepctl.errors import LogFormatError
from cepctl.io.clocks.blocks import blocks
from cepctl.io.clocks.contract import (
    JUMP,
    MESSAGES,
    STEP,
    SYNCHRONISED,
    UNLOCKED,
    Account,
    ClockLog,
    ClockRows,
    rows_of,
)
from cepctl.io.clocks.decimals import LARGEST, LAST_INSTANT, nanoseconds
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.reader import NO_ZONE, ReadOptions
from cepctl.io.contract.times import LogTime
from cepctl.io.source.first_lines import sample_of
from cepctl.io.source.text_encoding import decoded, utf8_stream
from cepctl.io.system.stamps import StampReader, stamps_of

DAEMON = "linuxptp"
NO_SIGN = "summaries of linuxptp (rms R max M), which have no sign"
OTHER_CLOCK = "offsets of other clocks than CLOCK_REALTIME"
OTHER_LINES = "lines of other programs or about something else"
BAD_OFFSET = "an offset of linuxptp that cannot be read"
BAD_STATE = "a state of the servo other than s0, s1 and s2"
BAD_TIME = "a time that no calendar has"
BAD_STEP = "a step by an amount that is not a number"
NOT_DATED = "an offset without the prefix of syslog or the journal"

_PROGRAM = r"(?P<program>ptp4l|phc2sys|ts2phc|chronyd|ntpd)"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
_PREFIX = (
    r"(?:<\d{1,3}>(?:\d )?)?(?:"
    rf"(?P<day>[A-Z][a-z]{{2}} {{1,2}}\d{{1,2}})(?: (?P<year>\d{{4}}))? (?P<clock>{_CLOCK})"
    rf"|(?P<iso>\d{{4}}-\d\d-\d\d[T ]{_CLOCK} ?(?:Z|[-+]\d\d:?\d\d)?)) (?P<host>\S+) "
)
_TAG = rf"{_PROGRAM}(?:\[[^\]\s]*\]|(?= ))?:? (?:\S+ \S+ - |- - - )?(?:\[[^\]]*\]:? ?)*"
_LINE = re.compile(rf"{_PREFIX}{_TAG}(?P<message>.*)", re.ASCII | re.DOTALL)
_UNDATED = re.compile(rf"{_PROGRAM}[\[: ]", re.ASCII)
_OFFSET = re.compile(
    r"(?:(?P<device>\S+) )?(?:(?:master|phc|sys) )?offset\s+(?P<offset>[-+]?\d{1,18}) s(?P<state>\d) freq\b",
    re.ASCII,
)
_STEPPED = re.compile(r"(?:.*\b)?(?:stepped by|time reset) (?P<amount>\S+?)(?: ?s| seconds)?[.]?$", re.ASCII)
_WANTED = r"\b(?:ptp4l|phc2sys|ts2phc)\b.*\b(?:offset|rms)\s|(?:stepped by|time reset) "
_STATES = {"0": UNLOCKED, "1": JUMP, "2": SYNCHRONISED}
_REALTIME = "CLOCK_REALTIME"
_LINES_LOOKED_AT = 2_000


def _is_undated(line: str) -> bool:
    """Whether a line has an offset, and begins with its program instead of a time."""
    return _UNDATED.match(line) is not None and " offset " in line


def recognises(head: bytes) -> bool:
    """Whether a line at the beginning is of a daemon that keeps clocks, in syslog or without a date."""
    lines = decoded(head).split("\n")[:_LINES_LOOKED_AT]
    return any(_LINE.match(line) or _is_undated(line) for line in lines)


def read(stream: IO[bytes], source: str, options: ReadOptions, account: Account) -> Iterator[ClockRows]:
    """The offsets and steps in a log.

    Raises
    ------
    LogFormatError
        If offsets have only the time since the start of the machine.
    """
    text = utf8_stream(stream)
    stamps = stamps_of(sample_of(text), source, options, account.report)
    found = _FoundRows(stamps, account, source)
    for block in blocks(text, source, account):
        numbered = block.numbered()
        wanted = numbered.filter(pl.col("text").str.contains(_WANTED))
        account.passed_over[OTHER_LINES] += len(numbered) - len(wanted)
        for number, line in zip(wanted["line"].to_list(), wanted["text"].to_list(), strict=True):
            found.take(number, line.strip(" \t\r\0"))
        yield from found.batches()


@dataclass
class _FoundRows:
    """The rows of some lines, by kind."""

    stamps: StampReader
    account: Account
    source: str
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def take(self, number: int, line: str) -> None:
        """Understand a line, which may be about something else after all."""
        found = _LINE.match(line)
        if found is None:
            self._without_date(number, line)
            return
        program, message = found["program"], found["message"]
        if program in ("chronyd", "ntpd"):
            self._step(number, found, message)
        elif message.startswith("rms ") or " rms " in message:
            self.account.passed_over[NO_SIGN] += 1
        else:
            self._offset(number, found, program, message)

    def _without_date(self, number: int, line: str) -> None:
        if _is_undated(line):
            raise LogFormatError(
                f"{self.source}, line {number}: {NOT_DATED}; its number in brackets counts from the start of "
                "the machine: take the lines from syslog, or from journalctl -o short-iso"
            )
        self.account.passed_over[OTHER_LINES] += 1

    def _step(self, number: int, found: re.Match[str], message: str) -> None:
        step = _STEPPED.match(message)
        if step is None:
            self.account.passed_over[OTHER_LINES] += 1
            return
        amount = nanoseconds([step["amount"]])
        if not amount.known[0] or abs(int(amount.floors[0])) > LARGEST:
            self.account.refuse(BAD_STEP, [number])
            return
        self._add(number, found, MESSAGES, {"ahead": int(amount.nearest[0]), "state": STEP})

    def _offset(self, number: int, found: re.Match[str], program: str, message: str) -> None:
        offset = _OFFSET.match(message)
        if offset is None:
            self.account.refuse(BAD_OFFSET, [number])
        elif offset["state"] not in _STATES:
            self.account.refuse(BAD_STATE, [number])
        elif program == "phc2sys" and offset["device"] != _REALTIME:
            self.account.passed_over[OTHER_CLOCK] += 1
        elif abs(int(offset["offset"])) > LARGEST or abs(int(offset["offset"])) == 2**32:
            self.account.refuse(BAD_OFFSET, [number])
        else:
            row = {"ahead": int(offset["offset"]), "state": _STATES[offset["state"]]}
            self._add(number, found, program, row)

    def _add(self, number: int, found: re.Match[str], kind: str, row: dict[str, Any]) -> None:
        time = self._time(found)
        if time is None or time.problem is not None:
            self.account.refuse(BAD_TIME, [number])
            return
        instant = time.micros * 1_000 + time.nanos
        if not 0 <= instant <= LAST_INSTANT:
            self.account.refuse(BAD_TIME, [number])
            return
        host = node_name(found["host"])
        self.rows.setdefault(kind, []).append({"host": host, "time": instant, "line": number, **row})

    def _time(self, found: re.Match[str]) -> LogTime | None:
        if found["iso"]:
            time = self.stamps.written(found["iso"])
        else:
            time = self.stamps.without_zone(found["day"], found["year"], found["clock"])
        if time is not None and not time.zone_given and self.stamps.options.time_zone is None:
            self.account.report.notes[NO_ZONE] += 1
        return time

    def batches(self) -> Iterator[ClockRows]:
        """What was found so far; afterwards nothing is held."""
        held, self.rows = self.rows, {}
        for kind, rows in held.items():
            names = ("host", "time", "ahead", "state", "line")
            yield ClockRows(kind, rows_of({name: [row[name] for row in rows] for name in names}, len(rows)))


LOG = ClockLog("syslog of ptp4l, phc2sys, ts2phc, chronyd or ntpd", DAEMON, recognises, read)
