"""Times as logs write them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from cepctl.errors import UsageError
from cepctl.io.contract.times import LogTime, named_zone, parse_time, why_no_time

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = 3_600_000_000


def utc(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp()) * 1_000_000  # type: ignore[misc, arg-type]


def instant(text: str, zone: ZoneInfo | None) -> LogTime | None:
    """What a text means, whatever unit it is written to."""
    time = parse_time(text, zone)
    return time and time._replace(grain=0, cut=False, nanos=0)


@pytest.mark.parametrize(
    ("text", "micros", "nanos", "cut"),
    [
        ("1970-01-01T00:00:00.000000001Z", 0, 1, False),
        ("1970-01-01 00:00:00,1234567", 123_456, 700, False),
        ("1970-01-01T01:00:00.123456789012+01:00", 123_456, 789, True),
        ("1969-12-31T23:59:59.999999999Z", -1, 999, False),
        ("1970-01-01T00:00:00.000000000000Z", 0, 0, False),
    ],
)
def test_nanoseconds_are_kept_beside_microseconds_and_finer_digits_are_cut(
    text: str, micros: int, nanos: int, cut: bool
) -> None:
    time = parse_time(text)
    assert time is not None
    assert (time.micros, time.nanos, time.cut) == (micros, nanos, cut)


@pytest.mark.parametrize(
    ("text", "micros", "zone_seconds"),
    [
        ("2011-10-01T00:38:44.546+02:00", utc(2011, 9, 30, 22, 38, 44) + 546_000, 7200),
        ("2011-10-01T00:38:44.546+0200", utc(2011, 9, 30, 22, 38, 44) + 546_000, 7200),
        ("2011-10-01T00:38:44-05", utc(2011, 10, 1, 5, 38, 44), -18000),
        ("2011-10-01T00:38:44.123456789Z", utc(2011, 10, 1, 0, 38, 44) + 123_456, 0),
        ("2011-10-01 00:38:44,5 +05:30", utc(2011, 9, 30, 19, 8, 44) + 500_000, 19800),
        ("2011/10/01 00:38:44Z", utc(2011, 10, 1, 0, 38, 44), 0),
        ("2011/1/5 7:03:00 UTC", utc(2011, 1, 5, 7, 3, 0), 0),
        ("2011-12-31T24:00:00Z", utc(2012, 1, 1), 0),
        ("2011-12-31T24:00+01:00", utc(2011, 12, 31, 23), 3600),
        ("2016-12-31T23:59:60Z", utc(2017, 1, 1), 0),
        ("2016-12-31T23:59:60.25Z", utc(2017, 1, 1) + 250_000, 0),
        ("1948-06-01T12:00:00+03:00", utc(1948, 6, 1, 9), 10800),
        ("  1970-01-01T00:00:00.000001Z ", 1, 0),
    ],
)
def test_a_time_with_its_zone_is_one_instant(text: str, micros: int, zone_seconds: int) -> None:
    assert instant(text, BERLIN) == LogTime(micros, zone_seconds)


@pytest.mark.parametrize(
    "text",
    ["", "?", "-1", "null", "2011-13-01", "2011-02-30T00:00:00Z", "05/06/2011 10:00", "2011-10-01T25:00:00Z",
     "2011-10-01T24:00:01Z", "2011-10-01T10:00:61Z", "1325376000", "9999-12-31T24:00:00Z",
     "2011-10-01T10:00:00+99:00", None],
)  # fmt: skip
def test_what_is_no_time_or_could_be_two_dates_is_none(text: str | None) -> None:
    assert parse_time(text) is None


def test_a_time_without_zone_is_read_in_the_users_zone_and_else_in_utc() -> None:
    assert instant("2015-07-01 12:00:00", BERLIN) == LogTime(utc(2015, 7, 1, 10), 7200, zone_given=False)
    assert instant("2015-07-01", None) == LogTime(utc(2015, 7, 1), 0, zone_given=False)


def test_an_hour_that_happens_twice_is_two_instants() -> None:
    found = instant("2015-10-25 02:30:00", BERLIN)
    assert found == LogTime(utc(2015, 10, 25, 0, 30), 7200, fold=HOUR, zone_given=False)
    written = instant("2015-10-25T02:30:00+01:00", BERLIN)
    assert written == LogTime(utc(2015, 10, 25, 1, 30), 3600)


def test_an_hour_that_the_clocks_skip_is_none() -> None:
    assert parse_time("2015-03-29 02:30:00", BERLIN) is None
    assert why_no_time("2015-03-29 02:30:00", BERLIN, {}) == "the clocks of Europe/Berlin skipped this hour"


@pytest.mark.parametrize("name", ["Mars/Olympus", "../etc/passwd", "Europe", ""])
def test_an_unknown_zone_is_named(name: str) -> None:
    with pytest.raises(UsageError, match="unknown time zone"):
        named_zone(name)


def test_no_zone_is_no_error() -> None:
    assert named_zone(None) is None
    assert named_zone("Europe/Berlin") == BERLIN
