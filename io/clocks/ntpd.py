"""ntpd's loopstats and peerstats; times are a modified Julian day and a second of it, in UTC.

    log          ahead            sd         bound
    loopstats    less column 3    column 5   none
    peerstats    less column 5    column 8   around: half of column 6, and column 7; to the peer, not to UTC

Offsets are positive where the clock is slow.  Of peerstats only rows of the peer that the daemon follows
count: those whose status, column 4, has the select code 6 or 7.

Source: ntpd's monitoring options, statistics files; status words in its manual of ntpq.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl

from cepctl.io.clocks.columns import ColumnLog, Fields
from cepctl.io.clocks.contract import ClockLog, rows_of

DAEMON = "ntpd"
BAD_STATUS = "a status of the peer that is not a hexadecimal number"
NOT_SELECTED = "rows of peers that ntpd does not follow"
_DAY = re.compile(r"\d{5}", re.ASCII)
_STATUS = re.compile(r"[0-9a-fA-F]{1,4}", re.ASCII)
_SECOND = re.compile(r"\d{1,5}(?:\.\d*)?", re.ASCII)
_SELECTED = (6, 7)
_JITTER = 8


def _is_of_a_day(cells: list[str]) -> bool:
    return bool(_DAY.fullmatch(cells[0]) and _SECOND.fullmatch(cells[1]))


def _is_loopstats(cells: list[str]) -> bool:
    return len(cells) in (5, 6, 7) and _is_of_a_day(cells)


def _is_peerstats(cells: list[str]) -> bool:
    return (
        len(cells) in (7, 8)
        and _is_of_a_day(cells)
        and _is_address(cells[2])
        and bool(_STATUS.fullmatch(cells[3]))
    )


def _is_address(text: str) -> bool:
    return text.count(".") > 1 or ":" in text or any(letter.isalpha() for letter in text.replace("e", ""))


def _loopstats(fields: Fields) -> pl.DataFrame:
    time, ahead = fields.julian(), -fields.estimate(3).nearest
    columns = {"time": time, "ahead": ahead, "sd": fields.deviation(5), "line": fields.lines}
    return rows_of(columns, len(fields))


def _peerstats(fields: Fields) -> pl.DataFrame:
    status = fields.text(4)
    readable = status.str.contains("^[0-9a-fA-F]{1,4}$").to_numpy()
    fields.refuse(~readable, BAD_STATUS)
    words = status.str.to_integer(base=16, strict=False).fill_null(0).to_numpy()
    selected = np.isin((words >> 8) & 7, _SELECTED)
    fields.account.passed_over[NOT_SELECTED] += int((~selected & ~fields.refused).sum())
    fields.refused = fields.refused | ~selected
    time, offset = fields.julian(), fields.estimate(5)
    around = -(-fields.part(6).up // 2) + fields.part(7).up + ~offset.exact
    fields.refuse(around <= 0, "a bound of 0")
    columns: dict[str, Any] = {"time": time, "ahead": -offset.nearest, "around": around, "line": fields.lines}
    if int(fields.cells.list.len()[0]) >= _JITTER:
        columns["sd"] = fields.deviation(_JITTER)
    return rows_of(columns, len(fields))


def _log(log: ColumnLog) -> ClockLog:
    return ClockLog(log.kind, DAEMON, log.recognises, log.read)


LOGS = (
    _log(ColumnLog("peerstats", frozenset((7, 8)), _is_peerstats, _peerstats)),
    _log(ColumnLog("loopstats", frozenset((5, 6, 7)), _is_loopstats, _loopstats)),
)
