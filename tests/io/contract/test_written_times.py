"""Times in forms of their own: read by --time-format, named once where it is missing."""

from __future__ import annotations

import datetime as dt
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import LogFormatError, UsageError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.contract.written_times import check_form, parse_written, possible_forms
from cepctl.io.tabular.files import FORMATS

CSV = FORMATS[0].reader


def times(
    *texts: str, form: str | None = None, zone: str | None = None
) -> tuple[list[dt.datetime], ReadReport]:
    report = ReadReport()
    data = "event_type,time\n" + "".join(f'A,"{text}"\n' for text in texts)
    options = ReadOptions(time_format=form, time_zone=zone)
    batches = CSV.read(io.BytesIO(data.encode()), "f", options, report)
    return [row["time"] for batch in batches for row in batch.to_pylist()], report


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("03.04.2026 12:00", "%d.%m.%Y %H:%M"),
        ("03/Apr/2026:12:00:00 +0000", "%d/%b/%Y:%H:%M:%S %z"),
        ("Fri Apr  3 12:00:00 2026", "%a %b  %d %H:%M:%S %Y"),
        ("3. April 2026, 12:00", "%d. %B %Y, %H:%M"),
        ("12:00:00 03.04.2026", "%H:%M:%S %d.%m.%Y"),
        ("03-APR-26 12.00.00.000000 PM", "%d-%b-%y %I.%M.%S.%f %p"),
        ("2026-04-03 12:00 PM", "%Y-%m-%d %I:%M %p"),
        ("Fri, 03 Apr 2026 12:00:00 GMT", "%a, %d %b %Y %H:%M:%S %Z"),
    ],
)
def test_another_form_is_named_once_with_an_example_and_the_option(text: str, form: str) -> None:
    with pytest.raises(LogFormatError) as problem:
        times("?", text, "4.4.2026", "2026-04-03T12:00:00Z")
    assert str(problem.value) == (
        f"f:3: the time '{text}' is not written as ISO 8601; name its form: --time-format '{form}'"
    )
    found, _ = times(text, form=form)
    assert found == [dt.datetime(2026, 4, 3, 12, tzinfo=dt.UTC)]


def test_where_the_day_may_be_the_month_both_forms_are_named() -> None:
    assert possible_forms("04/03/2026 1:00 PM") == ("%d/%m/%Y %I:%M %p", "%m/%d/%Y %I:%M %p")
    assert possible_forms("04/13/2026 1:00 PM") == ("%m/%d/%Y %I:%M %p",)
    with pytest.raises(LogFormatError, match="'%d-%m-%Y' or --time-format '%m-%d-%Y'"):
        times("04-03-2026")


def test_a_date_of_no_known_form_is_named_with_the_codes() -> None:
    with pytest.raises(LogFormatError, match=r"'the 3rd of April 2026' .* codes such as '%d\.%m\.%Y"):
        times("the 3rd of April 2026")


@pytest.mark.parametrize(
    "text", ["?", "n/a", "unknown", "12:30:05", "2026-13-45", "2026-04-03T12:00:00 9", "x7"]
)
def test_what_is_no_date_or_a_slip_in_iso_8601_is_a_bad_record(text: str) -> None:
    found, report = times(text, "2026-04-03T12:00:00Z")
    assert len(found) == 1
    assert [(reject.line, reject.cause) for reject in report.rejects] == [(2, "no time")]


def test_after_a_first_time_of_iso_8601_other_forms_are_bad_records() -> None:
    found, report = times("2026-04-03T12:00:00Z", "03.04.2026 12:00")
    assert len(found) == 1
    assert [reject.line for reject in report.rejects] == [3]
    assert report.time_forms == {"time texts": "ISO 8601"}


def test_with_a_form_every_other_one_is_a_bad_record_also_iso_8601() -> None:
    found, report = times("03.04.2026", "2026-04-03", "31.02.2026", "20260403", form="%d.%m.%Y")
    assert found == [dt.datetime(2026, 4, 3, tzinfo=dt.UTC)]
    assert [reject.line for reject in report.rejects] == [3, 4, 5]


def test_a_form_without_a_zone_is_read_in_that_of_the_user() -> None:
    (time,), _ = times("03.07.2026 12:00", form="%d.%m.%Y %H:%M", zone="Europe/Berlin")
    assert time == dt.datetime(2026, 7, 3, 10, tzinfo=dt.UTC)
    (time,), _ = times("03.07.2026 12:00 +0200", form="%d.%m.%Y %H:%M %z", zone="Asia/Tokyo")
    assert time == dt.datetime(2026, 7, 3, 10, tzinfo=dt.UTC)


def test_bounds_are_written_in_the_form_and_whole_numbers_there_are_ticks() -> None:
    data = b"event_type,lower,upper\nA,01.01.1970 00:01,7200000\n"
    options = ReadOptions(time_format="%d.%m.%Y %H:%M")
    (batch,) = CSV.read(io.BytesIO(data), "f", options, ReadReport())
    assert (batch.column("lower")[0].as_py(), batch.column("upper")[0].as_py()) == (60_000, 7_200_000)


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        ("%Q", "'Q' is a bad directive"),
        ("%", "stray %"),
        ("%d.%m", "has no year"),
        ("%%Y", "has no year"),
        ("", "year"),
    ],
)
def test_a_form_that_cannot_be_is_refused(form: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        check_form(form)


@given(
    st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2100, 1, 1)), st.sampled_from(["%d.%m.%Y", "%b %d, %Y"])
)
def test_a_time_in_a_suggested_form_is_read_as_it_was_written(moment: dt.datetime, date: str) -> None:
    moment = moment.replace(microsecond=0)
    text = moment.strftime(f"{date} %H:%M:%S")
    (form,) = possible_forms(text)
    time = parse_written(text, form)
    assert time is not None
    assert time.micros == moment.replace(tzinfo=dt.UTC).timestamp() * 1_000_000


def test_basic_iso_8601_needs_no_form() -> None:
    (time,), _ = times("20260403T120000Z")
    assert time == dt.datetime(2026, 4, 3, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("text", "form", "nanos", "cut"),
    [
        ("03.04.2026 12:00:00.123456789", "%d.%m.%Y %H:%M:%S.%f", 789, False),
        ("03.04.2026 12:00:00,1234567", "%d.%m.%Y %H:%M:%S,%f", 700, False),
        ("12:00:00.123456789012 03.04.2026", "%H:%M:%S.%f %d.%m.%Y", 789, True),
        ("03.04.2026 12:00:00.123456789000 +0000", "%d.%m.%Y %H:%M:%S.%f %z", 789, False),
    ],
)
def test_fractions_have_as_many_digits_as_they_like(text: str, form: str, nanos: int, cut: bool) -> None:
    time = parse_written(text, form)
    assert time is not None
    assert (time.micros % 1_000_000, time.nanos, time.cut) == (123_456, nanos, cut)
    assert form in possible_forms(text)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("20261399 101112.123", "%Y%m%d %H%M%S.%f"),
        ("20261199 101112.123456789", "%Y%m%d %H%M%S.%f"),
        ("03.04.2026 1200123456789", "%d.%m.%Y %H%M%f"),
    ],
)
def test_other_long_numbers_are_no_fractions(text: str, form: str) -> None:
    assert parse_written(text, form) is None
