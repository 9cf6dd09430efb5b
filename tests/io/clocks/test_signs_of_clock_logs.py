"""Every log of a clock, line by line: its sign, its bound, and what of it is not trusted."""

from __future__ import annotations

import io

import polars as pl
import pytest

from cepctl.io.clocks.contract import (
    JUMP,
    STEP,
    SYNCHRONISED,
    UNLOCKED,
    UNSYNCHRONISED,
    Account,
)
from cepctl.io.clocks.kinds import clock_log
from cepctl.io.contract.reader import ReadOptions

BANNER = (
    "=" * 120 + "\n"
    "   Date (UTC) Time     IP Address   St   Freq ppm   Skew ppm     Offset L Co  Offset sd Rem. corr. "
    "Root delay Root disp. Max. error\n" + "=" * 120 + "\n"
)
TRACKING = (
    "2026-03-02 09:00:12 192.0.2.7        2     -3.541      0.075  1.240e-02 N  2  9.000e-04 -2.000e-04  "
    "1.534e-02  3.472e-04  2.130e-02\n"
    "2026-03-02 09:01:16 192.0.2.7        2     -3.538      0.081 -6.100e-04 N  2  8.500e-04  1.500e-04  "
    "1.530e-02  3.510e-04  2.140e-02\n"
)
LOST = (
    "2026-03-02 09:02:21 192.0.2.7        2     -3.540      0.079  1.900e-04 ?  1  8.700e-04 -1.000e-05  "
    "1.541e-02  3.490e-04  9.100e-03\n"
)
STATISTICS = (
    "2026-03-02 09:00:12 192.0.2.7        7.431e-04  1.240e-02  9.000e-04 -2.210e-08  7.500e-08 3.1e-02  "
    "12   0   6  0.00\n"
)
MEASUREMENTS = (
    "2026-03-02 09:00:12 192.0.2.7        N  1 111 111 1111   6  6 0.00 -1.310e-02  1.120e-02  3.100e-05  "
    "4.140e-03  2.100e-04 C0000201 4B K K\n"
)
LOOPSTATS = "61101 32412.031 -0.012400000 -3.541 0.000743100 0.013380 6\n"
PEERSTATS = (
    "61101 32412.031 192.0.2.7 961a -0.012400000 0.011200000 0.003100000 0.000743100\n"
    "61101 32413.031 192.0.2.8 941a -0.5 0.01 0.003 0.0007\n"
)
LINUXPTP = (
    "Mar  2 09:00:12 node07 ptp4l[711]: [1306.933] master offset      -1240 s2 freq   -6060 path delay   "
    "    233\n"
    "Mar  2 09:00:13 node07 phc2sys[713]: [1307.394] CLOCK_REALTIME phc offset       775 s2 freq  -10549 "
    "delay   5604\n"
)
NINE_O_CLOCK = 1_772_442_000_000_000_000  # 2026-03-02 09:00:00 UTC
MS = 1_000_000
CHANGED = ReadOptions(modified=1_772_500_000_000_000)


def rows_of(text: str, options: ReadOptions = CHANGED) -> tuple[pl.DataFrame, Account, str]:
    """The rows of a log, what its account says, and of which kind its last rows are."""
    log = clock_log(text.encode())
    assert log is not None
    account = Account()
    batches = list(log.read(io.BytesIO(text.encode()), "log", options, account))
    return pl.concat([batch.rows for batch in batches]), account, batches[-1].kind


@pytest.mark.parametrize(
    ("text", "kind", "ahead", "sd", "since", "around"),
    [
        (BANNER + TRACKING, "tracking", [12.6, -0.76], [0.9, 0.85], [21.3, 21.4], [None, None]),
        (STATISTICS, "statistics", [12.4], [0.9], [None], [None]),
        (MEASUREMENTS, "measurements", [13.1], [None], [None], [(11.2 + 4.14) / 2 + 0.031 + 0.21]),
        (LOOPSTATS, "loopstats", [12.4], [0.7431], [None], [None]),
        (PEERSTATS, "peerstats", [12.4], [0.7431], [None], [11.2 / 2 + 3.1]),
        (LINUXPTP.splitlines(True)[0], "ptp4l", [-0.00124], [None], [None], [None]),
        (LINUXPTP.splitlines(True)[1], "phc2sys", [0.000775], [None], [None], [None]),
    ],
)
def test_ahead_is_what_a_clock_shows_too_much(
    text: str,
    kind: str,
    ahead: list[float],
    sd: list[float | None],
    since: list[float | None],
    around: list[float | None],
) -> None:
    """In milliseconds; the signs differ between files of one daemon."""

    def nanoseconds(values: list[float | None]) -> list[int | None]:
        return [None if value is None else round(value * MS) for value in values]

    rows, _, found = rows_of(text)
    assert found == kind
    assert rows["ahead"].to_list() == [round(value * MS) for value in ahead]
    assert rows["sd"].to_list() == nanoseconds(sd)
    assert rows["since"].to_list() == nanoseconds(since)
    assert rows["around"].to_list() == nanoseconds(around)
    assert rows["time"][0] // 1_000_000_000 in range(NINE_O_CLOCK // 10**9 + 12, NINE_O_CLOCK // 10**9 + 14)


def test_a_row_that_is_not_synchronised_has_figures_that_nobody_trusts() -> None:
    rows, _, _ = rows_of(TRACKING + LOST)
    assert rows["state"].to_list() == [SYNCHRONISED, SYNCHRONISED, UNSYNCHRONISED]


@pytest.mark.parametrize(("width", "ahead", "sd"), [(9, 12.4, None), (10, 12.4, 0.9), (11, 12.6, 0.9)])
def test_older_tracking_logs_have_fewer_columns_and_no_bound(
    width: int, ahead: float, sd: float | None
) -> None:
    line = " ".join(TRACKING.splitlines()[0].split()[:width]) + "\n"
    rows, account, kind = rows_of(line)
    assert kind == "tracking"
    assert rows["ahead"].to_list() == [round(ahead * MS)]
    assert rows["sd"].to_list() == [None if sd is None else round(sd * MS)]
    assert rows["since"].to_list() == [None]
    assert not account.not_understood


def test_banners_come_at_any_place_and_say_nothing() -> None:
    first, second = TRACKING.splitlines(True)
    rows, account, _ = rows_of(BANNER + first + BANNER + second)
    assert rows["line"].to_list() == [4, 8]
    assert not account.not_understood


@pytest.mark.parametrize(
    ("column", "text", "cause"),
    [
        (14, "0.000e+00", "a bound that is 0"),
        (14, "-2.130e-02", "a bound that is 0"),
        (14, "nan", "a bound that is 0"),
        (14, "4.294967296", "a bound that is 0"),
        (7, "nan", "an estimate that is not a number"),
        (7, "1e99", "an estimate that is not a number"),
        pytest.param(7, "0." + 5_000 * "1", "an estimate that is not a number", id="5,000 digits"),
        (8, "X", "a leap status"),
        (2, "25:00:12", "a time that no calendar has"),
    ],
)
def test_a_figure_that_cannot_be_refuses_its_line_and_no_other(column: int, text: str, cause: str) -> None:
    cells = TRACKING.splitlines()[1].split()
    cells[column - 1] = text
    rows, account, _ = rows_of(BANNER + TRACKING + " ".join(cells) + "\n")
    assert rows["line"].to_list() == [4, 5]
    assert [(line, found.startswith(cause)) for found, line in account.lines.items()] == [([6], True)]


@pytest.mark.parametrize("text", ["0.000e+00", "-1e-3", "nan", "4.294967296"])
def test_a_deviation_that_cannot_be_is_left_out_and_said(text: str) -> None:
    rows, account, _ = rows_of(TRACKING.replace("8.500e-04", text))
    assert rows["sd"].to_list() == [900_000, None]
    assert [(lines, "kept without it" in cause) for cause, lines in account.lines.items()] == [([2], True)]


def test_a_last_line_without_its_end_may_be_half_a_number() -> None:
    rows, account, _ = rows_of(TRACKING + LOST[:-2])
    assert rows["line"].to_list() == [1, 2]
    assert list(account.lines.values()) == [[3]]


def test_a_line_cut_in_the_middle_is_refused_with_its_number() -> None:
    first, second = TRACKING.splitlines(True)
    rows, account, _ = rows_of(first + second[:40] + "\n" + second)
    assert rows["line"].to_list() == [1, 3]
    assert list(account.lines.values()) == [[2]]


def test_an_estimate_outside_of_its_own_bound_is_counted() -> None:
    rows, account, _ = rows_of(TRACKING.replace("2.130e-02", "1.000e-02"))
    assert list(account.beyond_bound) == [1]
    assert len(rows) == 2


def test_days_in_the_future_are_refused() -> None:
    rows, account, _ = rows_of(LOOPSTATS + LOOPSTATS.replace("61101", "99999"))
    assert rows["line"].to_list() == [1]
    assert [(lines, "future" in cause) for cause, lines in account.lines.items()] == [([2], True)]


def test_the_leap_second_of_ntpd_is_the_second_after_the_day() -> None:
    rows, account, _ = rows_of(LOOPSTATS + LOOPSTATS.replace("32412.031", "86400.5"))
    assert not account.not_understood
    assert rows["time"][1] == (61_102 - 40_587) * 86_400 * 10**9 + 500_000_000


def test_peers_that_ntpd_does_not_follow_are_passed_over() -> None:
    _, account, _ = rows_of(PEERSTATS)
    assert account.passed_over == {"rows of peers that ntpd does not follow": 1}


def test_measurements_that_failed_chronys_tests_are_passed_over() -> None:
    rows, account, _ = rows_of(MEASUREMENTS + MEASUREMENTS.replace("111 111 1111", "111 101 1111"))
    assert (len(rows), sum(account.passed_over.values())) == (1, 1)


@pytest.mark.parametrize(
    "prefix",
    [
        "Mar  2 09:00:12 node07 ptp4l[711]: [1306.933] ",
        "Mar  2 09:00:12 node07 ptp4l: [1306.933] ",
        "Mar  2 09:00:12 node07 ptp4l[1306.933]: ",
        "2026-03-02T09:00:12+00:00 node07 ptp4l[711]: [1306.933] ",
        "2026-03-02T10:00:12+0100 node07 ptp4l[711]: [1306.933] [ptp4l.0.config] ",
        "<30>1 2026-03-02T09:00:12Z node07 ptp4l 711 - - [1306.933] ",
    ],
)
def test_the_prefix_of_syslog_or_the_journal_tells_time_and_host(prefix: str) -> None:
    rows, _, _ = rows_of(prefix + "master offset      -1240 s2 freq   -6060 path delay       233\n")
    assert rows.select("host", "time", "ahead").row(0) == ("node07", NINE_O_CLOCK + 12 * 10**9, -1_240)


def test_states_of_the_servo_and_steps_of_daemons() -> None:
    text = (
        LINUXPTP.splitlines(True)[0].replace(" s2 ", " s0 ")
        + LINUXPTP.splitlines(True)[0].replace(" s2 ", " s1 ")
        + "Mar  2 09:00:14 node07 ptp4l[711]: rms  196 max  286 freq  -6060 +/- 271 delay   233 +/-   0\n"
        + "Mar  2 09:00:15 node07 chronyd[99]: System clock was stepped by -2.300000 seconds\n"
        + "Mar  2 09:00:16 node07 sshd[2]: Accepted publickey for ann\n"
        + "Mar  2 09:00:17 node07 phc2sys[3]: [1.5] eth1 sys offset 12 s2 freq +1 delay 2\n"
        + "Mar  2 09:00:18 node07 ptp4l[711]: [2.5] master offset  lots s2 freq +1\n"
    )
    rows, account, _ = rows_of(text)
    assert sorted(rows.select("line", "state", "ahead").rows()) == [
        (1, UNLOCKED, -1_240),
        (2, JUMP, -1_240),
        (4, STEP, -2_300_000_000),
    ]
    assert sum(account.passed_over.values()) == 3
    assert list(account.lines.values()) == [[7]]
