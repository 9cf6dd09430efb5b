"""Times of matches as text."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cepctl.errors import UsageError
from cepctl.io.rows.encoding import presented
from cepctl.schema import TimeUnit

MILLISECOND, SECOND = TimeUnit(1_000), TimeUnit(1_000_000)


def starts(unit: TimeUnit, *ticks: int) -> list[str]:
    """The ticks as `start` of matches, presented."""
    table = pa.table({"start": pa.array(ticks, pa.int64()), "end": pa.array(ticks, pa.int64())})
    found: list[str] = presented(table, unit, "iso").column("start").to_pylist()
    return found


def test_times_have_as_many_digits_as_the_unit() -> None:
    assert starts(SECOND, 0, 86_399) == ["1970-01-01T00:00:00Z", "1970-01-01T23:59:59Z"]
    assert starts(MILLISECOND, -1, 1) == ["1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.001Z"]
    assert starts(TimeUnit(10), 7) == ["1970-01-01T00:00:00.000070Z"]


def test_years_of_more_or_fewer_than_four_digits_stay_readable() -> None:
    assert starts(SECOND, 253_402_300_800) == ["10000-01-01T00:00:00Z"]
    assert starts(SECOND, -99_999_999_999) == ["-1199-02-15T14:13:21Z"]


@pytest.mark.parametrize("ticks", [1 << 55, -(1 << 55), 1 << 62, (1 << 63) - 1])
def test_a_time_beyond_the_calendar_is_refused(ticks: int) -> None:
    """Arrow's own formatting wraps years around and would print another time."""
    for unit in (MILLISECOND, SECOND):
        with pytest.raises(UsageError, match="--time ticks"):
            starts(unit, 0, ticks)


def test_times_that_return_gives_may_be_missing() -> None:
    logged = pa.array([None, 1_500_000], pa.timestamp("us", "UTC"))
    table = pa.table({"start": pa.array([0, 0]), "end": pa.array([0, 0]), "a.time": logged})
    assert presented(table, SECOND, "iso").column("a.time").to_pylist() == [
        None,
        "1970-01-01T00:00:01.500000Z",
    ]
    only_missing = table.slice(0, 1)
    assert presented(only_missing, SECOND, "iso").column("a.time").to_pylist() == [None]
