"""A column of times in text as instants: every distinct text is parsed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from cepctl.io.reading import ReadReport
from cepctl.io.times import LogTime, named_zone, parse_time
from cepctl.schema import TIME_TYPE

NO_ZONE = "times written without a zone were read as UTC; name their zone with --tz"
IN_GAP = "times that the clocks skipped were read with the offset that held before"


@dataclass(frozen=True)
class ParsedTimes:
    """Instants, the offsets from UTC they were written with, and how much later each may be.

    `after` is in microseconds: above 0 where a clock that was set back shows a time twice.
    """

    time: pa.Array
    zone_seconds: pa.Array
    after: pa.Array


def parse_times(texts: pa.Array, time_zone: str | None, report: ReadReport) -> ParsedTimes:
    """Parse a string column; null where a text is no time.

    `time_zone` is the IANA zone of times written without one, UTC when None (the report warns).
    """
    encoded = texts.dictionary_encode()
    zone = named_zone(time_zone)
    found = [parse_time(text, zone) for text in encoded.dictionary.to_pylist()]
    _warn(found, time_zone, report)

    def spread(values: Sequence[int | None]) -> pa.Array:
        return pa.array(values, pa.int64()).take(encoded.indices)

    return ParsedTimes(
        spread([time.micros if time else None for time in found]).cast(TIME_TYPE),
        spread([time.zone_seconds if time else None for time in found]),
        spread([time.spread if time else None for time in found]),
    )


def _warn(found: Sequence[LogTime | None], time_zone: str | None, report: ReadReport) -> None:
    for warning, holds in (
        (NO_ZONE, time_zone is None and any(time and not time.zone_given for time in found)),
        (IN_GAP, any(time and time.in_gap for time in found)),
    ):
        if holds and warning not in report.warnings:
            report.warnings.append(warning)
