"""One damaged time in a column costs its row alone, wherever it stands; swallowed rows are told."""

from __future__ import annotations

import pytest

from tests.reader_account import account_of

EPOCH = [f"17814177{number:02}123" for number in range(40)]
ISO = [f"2026-06-14T06:15:{number + 10}.000Z" for number in range(40)]


def table(times: list[str]) -> bytes:
    return ("event_type,time,note\n" + "".join(f"A,{time},x\n" for time in times)).encode()


def with_one(times: list[str], place: int, value: str) -> bytes:
    return table([*times[:place], value, *times[place + 1 :]])


@pytest.mark.parametrize("place", [0, 20, 39])
@pytest.mark.parametrize(
    "value",
    [
        *("178", "1.5", "-5", "2026", "20260614", "9" * 20, "1781417703123456", "?"),
        *("17814177.03.12", "14.06.2026 06:15", "2026-06-1", "06:15:00"),
    ],
)
def test_a_damaged_number_among_those_since_1970_is_one_reject(value: str, place: int) -> None:
    account = account_of(with_one(EPOCH, place, value), "csv")
    assert (account.refused, account.events, account.rejected) == (None, 39, 1)


@pytest.mark.parametrize("place", [0, 20, 39])
@pytest.mark.parametrize("value", ["2026-06-1", "2026-06", "2026-06-14T06:1", "2026", "14.06.2026 06:15"])
def test_a_cut_time_among_written_ones_is_one_reject(value: str, place: int) -> None:
    account = account_of(with_one(ISO, place, value), "csv")
    assert (account.refused, account.events, account.rejected) == (None, 39, 1)


def test_days_of_one_digit_are_days_where_no_time_has_a_clock() -> None:
    account = account_of(table(["2026-06-1", "2026-06-10", "2026-06-2"]), "csv")
    assert (account.events, account.rejected) == (3, 0)


def test_dates_of_another_form_are_still_asked_for() -> None:
    account = account_of(table(["14.06.2026 06:15"] * 9 + ISO[:9]), "csv")
    assert account.refused is not None
    assert "--time-format" in account.refused


@pytest.mark.parametrize("place", [1, 2, 50])
def test_rows_of_several_widths_that_a_quote_takes_in_are_read(place: int) -> None:
    rows = [f"A,2026-06-14T06:15:{n % 50 + 10}Z,x{n}{',more' if n % 2 else ''}\n" for n in range(100)]
    wide = account_of(("event_type,time,note\n" + "".join(rows)).encode(), "csv")
    rows[place] = rows[place].replace(",2026", ',"2026')
    account = account_of(("event_type,time,note\n" + "".join(rows)).encode(), "csv")
    assert wide.events - account.events <= 1
    assert account.events + account.rejected >= 100
