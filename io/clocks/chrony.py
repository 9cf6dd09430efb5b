"""chrony's tracking.log, statistics.log and measurements.log; seconds, times in UTC, whole seconds cut off.

    log              ahead                       sd          bound
    tracking         column 7 less column 11     column 10   column 14: |ahead| since the row before
    statistics       column 5                    column 6    none
    measurements     less column 12              none        around: (13 + 15) / 2 + 14 + 16

Columns 7 of tracking.log and 5 of statistics.log are positive where the clock is fast, column 12 of
measurements.log is where it is slow.  Column 11 is a correction that is not made yet, positive where the
clock is slow.  Older versions write tracking.log up to column 11, 10 or 9.  `?` in its column 8 says that the
clock is not synchronised: such rows have figures, but no bound holds.

Source: chrony.conf(5), log.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl

from cepctl.io.clocks.columns import ColumnLog, Fields
from cepctl.io.clocks.contract import SYNCHRONISED, UNSYNCHRONISED, ClockLog, rows_of
from cepctl.numeric.arrays import Flags, Numbers

DAEMON = "chrony"
BAD_LEAP = "a leap status other than N + - ?"
FAILED_TESTS = "measurements that failed chrony's own tests"
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_LEAP, _REMAINING, _MAX_ERROR = 8, 11, 14
_DEVIATION = 10
_GROUPS_OF_TESTS = 3


def _is_dated(cells: list[str]) -> bool:
    return _DATE.fullmatch(cells[0]) is not None


def _is_tracking(cells: list[str]) -> bool:
    return len(cells) in (9, 10, 11, 14) and _is_dated(cells) and cells[7] in "N+-?" and cells[3].isdigit()


def _is_statistics(cells: list[str]) -> bool:
    return len(cells) in (12, 13) and _is_dated(cells) and "e" in cells[3] and "e" in cells[4]


def _is_measurement(cells: list[str]) -> bool:
    return len(cells) >= 16 and _is_dated(cells) and cells[3] in "N+-?" and set(cells[5]) <= set("01")


def _states(fields: Fields, column: int) -> pl.Series:
    leap = fields.text(column)
    fields.refuse(~leap.is_in(["N", "+", "-", "?"]).to_numpy(), BAD_LEAP)
    unknown = (leap == "?").to_numpy()
    return pl.Series(np.where(unknown, UNSYNCHRONISED, SYNCHRONISED).astype(np.uint8))


def _tracking(fields: Fields) -> pl.DataFrame:
    width = int(fields.cells.list.len()[0])
    time = fields.calendar()
    ahead = fields.estimate(7).nearest
    if width >= _REMAINING:
        ahead = ahead - fields.estimate(_REMAINING).nearest
    state = _states(fields, _LEAP)
    columns: dict[str, Any] = {"time": time, "ahead": ahead, "state": state, "line": fields.lines}
    if width >= _MAX_ERROR:
        columns["since"] = _max_error(fields, ahead, (state == SYNCHRONISED).to_numpy())
    if width >= _DEVIATION:
        columns["sd"] = fields.deviation(_DEVIATION)
    return rows_of(columns, len(fields))


def _max_error(fields: Fields, ahead: Numbers, synchronised: Flags) -> Numbers:
    """Column 14, and a count of estimates beyond it."""
    most = fields.bound(_MAX_ERROR)
    beyond = fields.lines[(np.abs(ahead) > most) & synchronised & ~fields.refused]
    fields.account.beyond_bound.update(beyond.tolist())
    return most


def _statistics(fields: Fields) -> pl.DataFrame:
    time, ahead = fields.calendar(), fields.estimate(5).nearest
    columns = {"time": time, "ahead": ahead, "sd": fields.deviation(6), "line": fields.lines}
    return rows_of(columns, len(fields))


def _measurements(fields: Fields) -> pl.DataFrame:
    time = fields.calendar()
    offset = fields.estimate(12)
    delays, dispersions = (13, 15), (14, 16)
    delay = sum(fields.part(column).up for column in delays)
    around = -(-delay // 2) + sum(fields.part(column).up for column in dispersions) + ~offset.exact
    fields.refuse(around <= 0, "a bound of 0")
    state = _states(fields, 4)
    passed = np.ones(len(fields), np.bool_)
    for column in (6, 7):
        passed &= (fields.text(column).str.contains("^1+$")).to_numpy()
    failed = ~passed & ~fields.refused
    fields.account.passed_over[FAILED_TESTS] += int(failed.sum())
    fields.refused = fields.refused | failed
    columns = {"time": time, "ahead": -offset.nearest, "around": around, "state": state, "line": fields.lines}
    return rows_of(columns, len(fields))


def _log(name: str, log: ColumnLog) -> ClockLog:
    return ClockLog(name, DAEMON, log.recognises, log.read)


LOGS = (
    _log("tracking.log", ColumnLog("tracking", frozenset((9, 10, 11, 14)), _is_tracking, _tracking)),
    _log(
        "measurements.log",
        ColumnLog("measurements", frozenset(range(16, 24)), _is_measurement, _measurements),
    ),
    _log("statistics.log", ColumnLog("statistics", frozenset((12, 13)), _is_statistics, _statistics)),
)
