"""What stands before the time of a line: it is kept, as an attribute, or in a message of the whole line."""

from __future__ import annotations

from pathlib import Path

from tests.io.lines.test_lines import taken


def test_words_before_the_time_are_an_attribute(tmp_path: Path) -> None:
    text = "".join(
        f"{kind} 2026-06-14T08:15:0{second}.186641Z app/lb-{second} 10.0.0.7 took {second} ms\n"
        for second, kind in enumerate(("https", "h2", "https"))
    )
    rows, _ = taken(tmp_path, text)
    assert [row["prefix"] for row in rows] == ["https", "h2", "https"]
    assert str(rows[1]["message"]) == "app/lb-1 10.0.0.7 took 1 ms"


def test_lines_that_end_with_their_time_are_messages_as_a_whole(tmp_path: Path) -> None:
    text = "".join(f"valve {valve} opened at 2026-06-14 08:15:0{valve}\n" for valve in range(3))
    rows, _ = taken(tmp_path, text)
    assert [row["message"] for row in rows] == text.splitlines()
    assert {row["event_type"] for row in rows} == {"valve opened at"}


def test_brackets_before_the_time_are_nothing_that_is_said(tmp_path: Path) -> None:
    rows, _ = taken(tmp_path, "[2026-06-14 08:15:04] a ready\n[2026-06-14 08:15:05] a done\n")
    assert "prefix" not in rows[0]


def test_syslog_whose_records_have_several_lines_is_read_as_lines(tmp_path: Path) -> None:
    text = (
        "Aug 16 00:28:56 mac syslogd[314]: ASL Sender Statistics\n"
        "Aug 16 00:32:15 mac syslogd[314]: Configuration Notice:\n"
        '\tASL Module "com.apple.authd" claims selected messages.\n'
        "\tThose messages may not appear in standard system log files.\n"
    )
    rows, summary = taken(tmp_path, text, epoch=1_767_225_600_000_000)
    assert (summary.accounts[0].format, summary.rejected) == ("lines", {})
    assert [(row["program"], row["node"], str(row["message"]).count("\n")) for row in rows] == [
        ("syslogd", "mac", 0),
        ("syslogd", "mac", 2),
    ]


def test_numbers_that_are_no_days_are_no_dates(tmp_path: Path) -> None:
    text = "".join(f"478760 12:21:4{second}.284771 2026-06-14T08:15:0{second}Z brk\n" for second in range(3))
    rows, _ = taken(tmp_path, text)
    assert [str(row["time"])[:19] for row in rows] == [f"2026-06-14 08:15:0{second}" for second in range(3)]


def test_signs_between_words_are_no_words(tmp_path: Path) -> None:
    text = "".join(f"10.0.0.{n} | https | ann | 2026-06-14 08:15:0{n},838 | GET /{n}\n" for n in range(3))
    rows, _ = taken(tmp_path, text)
    assert [row["prefix"] for row in rows] == [f"10.0.0.{n} | https | ann" for n in range(3)]
