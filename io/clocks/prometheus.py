"""Answers of Prometheus to a range query of node_exporter's timex metrics, as JSON.

    metric                                     what it gives
    node_timex_offset_seconds                  part of the bound
    node_timex_maxerror_seconds                the bound: around maxerror + |offset|
    node_timex_estimated_error_seconds         sd
    node_timex_sync_status                     0: not synchronised

The estimate is 0.  `instance` is host:port.  The kernel holds maxerror at 16 s while the clock is not
synchronised; an offset beyond maxerror by a thousand times is not understood, as guests of KVM show.  Samples
are stamped by the clock of Prometheus, not by that of the host.

Source: Prometheus, HTTP API, range queries; adjtimex(2).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import polars as pl

from cepctl.errors import LogFormatError
from cepctl.io.clocks.columns import BAD_BOUND, BAD_ESTIMATE, is_usable, known_where
from cepctl.io.clocks.contract import SYNCHRONISED, UNSYNCHRONISED, Account, ClockLog, ClockRows, rows_of
from cepctl.io.clocks.decimals import LARGEST, LAST_INSTANT, nanoseconds
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.source.text_encoding import decoded, utf8_stream
from cepctl.numeric.arrays import Flags

DAEMON = "Prometheus"
OFFSET, MAX_ERROR = "node_timex_offset_seconds", "node_timex_maxerror_seconds"
ESTIMATED, STATUS = "node_timex_estimated_error_seconds", "node_timex_sync_status"
OTHER_METRICS = "series of other metrics"
TOO_FAR = "an offset beyond the largest error by a thousand times"
BAD_SAMPLE = "a sample that is not a time and a number"
NO_BOUND = f"a sample without {OFFSET} and {MAX_ERROR} at one time"
_UNSYNCHRONISED_ERROR = 16 * 10**9
_THOUSAND = 1_000


def recognises(head: bytes) -> bool:
    """Whether it is an answer of Prometheus, of a metric of timex."""
    text = decoded(head).lstrip()
    return text.startswith("{") and '"resultType"' in text and "node_timex_" in text


def read(stream: IO[bytes], source: str, options: ReadOptions, account: Account) -> Iterator[ClockRows]:
    """The samples of each host, in order of time; `line` is the number of the sample.

    Raises
    ------
    LogFormatError
        If it is not an answer to a range query.
    """
    try:
        answer = json.loads(
            utf8_stream(stream).read().decode("utf-8", "replace"), parse_float=str, parse_int=str
        )
        result = answer["data"]["result"]
        series = [(each["metric"], each["values"]) for each in result]
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise LogFormatError(
            f"{source}: not a whole answer of Prometheus to a range query ({problem}); fetch it again from "
            "/api/v1/query_range"
        ) from None
    hosts: dict[str | None, dict[str, dict[str, str]]] = {}
    for metric, values in series:
        name = metric.get("__name__")
        if name not in (OFFSET, MAX_ERROR, ESTIMATED, STATUS):
            account.passed_over[OTHER_METRICS] += 1
            continue
        samples = hosts.setdefault(node_name(metric.get("instance")), {}).setdefault(name, {})
        for number, sample in enumerate(values, 1):
            if not (
                isinstance(sample, list)
                and len(sample) == 2
                and all(isinstance(each, str) for each in sample)
            ):
                account.refuse(BAD_SAMPLE, [number])
                continue
            samples[sample[0]] = sample[1]
    for host, metrics in hosts.items():
        yield ClockRows("prometheus", _rows(host, metrics, account))


def _rows(host: str | None, metrics: dict[str, dict[str, str]], account: Account) -> pl.DataFrame:
    """The samples of a host: those of the metrics at one time are one row."""
    times = sorted({text for samples in metrics.values() for text in samples}, key=_number)
    columns: dict[str, Any] = {
        name: nanoseconds([metrics.get(name, {}).get(text, "") for text in times])
        for name in (OFFSET, MAX_ERROR, ESTIMATED, STATUS)
    }
    stamps = nanoseconds(times)
    offset, most = columns[OFFSET], columns[MAX_ERROR]
    status = columns[STATUS].known & (columns[STATUS].floors == 0)
    numbers = np.arange(1, len(times) + 1)
    size = np.maximum(np.abs(offset.floors), np.abs(offset.up))
    bad = np.zeros(len(times), np.bool_)
    for wrong, cause in (
        (~stamps.known | (stamps.floors < 0) | (stamps.floors > LAST_INSTANT), BAD_SAMPLE),
        (_missing(metrics, times), NO_BOUND),
        (~offset.known | (size > LARGEST), BAD_ESTIMATE),
        (~is_usable(most), BAD_BOUND),
        (size > _THOUSAND * np.where(most.known, most.up, 0), TOO_FAR),
    ):
        account.refuse(cause, numbers[wrong & ~bad].tolist())
        bad = bad | wrong
    unknown = status | (most.floors >= _UNSYNCHRONISED_ERROR)
    estimated = columns[ESTIMATED]
    rows = rows_of(
        {
            "host": pl.repeat(host, len(times), dtype=pl.String, eager=True),
            "time": stamps.nearest,
            "ahead": np.zeros(len(times), np.int64),
            "sd": known_where(estimated.up, is_usable(estimated)),
            "around": most.up + size,
            "state": np.where(unknown, UNSYNCHRONISED, SYNCHRONISED).astype(np.uint8),
            "line": numbers,
        },
        len(times),
    )
    return rows.filter(pl.Series(~bad))


def _missing(metrics: dict[str, dict[str, str]], times: list[str]) -> Flags:
    offsets, bounds = metrics.get(OFFSET, {}), metrics.get(MAX_ERROR, {})
    return np.array([text not in offsets or text not in bounds for text in times], np.bool_)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -np.inf


LOG = ClockLog("range query of Prometheus", DAEMON, recognises, read)
