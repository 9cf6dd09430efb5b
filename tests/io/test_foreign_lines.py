"""One foreign line among the first 400 costs a log no more than that line (tests/foreign_lines.py)."""

from __future__ import annotations

import os

import pytest

from cepctl.errors import LogFormatError
from cepctl.io.lines.recognition import layout_of
from tests.foreign_lines import FORMS, ForeignLine, foreign_line, judged


@pytest.mark.parametrize("number", [*range(len(FORMS)), 9575])
def test_a_foreign_line_costs_no_other_line_anything(number: int) -> None:
    log = foreign_line(number)
    assert judged(log) is None, log


@pytest.mark.slow
def test_no_foreign_line_of_ten_thousand_costs_another_line_anything() -> None:
    count = int(os.environ.get("CEPCTL_FOREIGN_LINES", "10000"))
    found = {number: judged(foreign_line(number)) for number in range(count)}
    assert {number: said for number, said in found.items() if said is not None} == {}


@pytest.mark.parametrize(
    ("form", "line", "place"),
    [
        # A time to the minute, a cut line, a time of the other half of the day's layout, a stray beginning.
        ("ZooKeeper", "2026-06-14 06:15 nightly backup begins", 200),
        ("ZooKeeper", "2026-06-14 06:31:", 309),
        ("BlueGene", "1781418140: 252.6", 130),
        ("Apache", "<html>", 0),
        ("slashes", "2026-06-14T06:21:59.328Z stdout F line 240", 0),
        ("a time alone", "client \0 is in", 7),
        ("log4j of Hadoop", "a,b,c", 0),
        ("jsonl", '1"}', 0),
        ("console of Spark", "time,event_type,note", 0),
        # Headers of tables that stray into logs, whose lines fall into as many values.
        ("jsonl, epoch", "event_type,time,note", 19),
        ("json", "event_type,time", 1),
        ("spark", "event_type,time,a,b", 5),
        ("ZooKeeper", "event_type,time", 0),
        ("Kafka", "time,event_type", 2),
        ("jsonl, epoch", "#Fields: date time", 0),
        ("w3c", "#fields\tts\tuid", 1),
        ("zeek", "event_type\ttime\tnote", 0),
    ],
)
def test_what_once_decided_for_all_decides_nothing(form: str, line: str, place: int) -> None:
    assert judged(ForeignLine(form, line, place)) is None


def test_a_reader_that_one_line_misleads_is_found() -> None:
    log = ForeignLine("ZooKeeper", "nothing", 300)
    lines = log.data.decode().split("\n")
    broken = ForeignLine("ZooKeeper", "\n".join(line.replace(":", ".") for line in lines[:300]), 0)
    assert judged(broken) is not None


def test_half_days_are_not_taken_for_days_because_of_one_line() -> None:
    lines = [f"06/14/2026 {n % 12 + 1}:15:04 PM client {n} is in" for n in range(50)]
    layout = layout_of(["06/14/2026 06:15:04 nightly backup", *lines])
    assert layout is not None
    assert layout.stamp.name == "MM/DD/YYYY hh:mm:ss AM"


def test_one_day_beyond_twelve_among_many_does_not_say_what_is_the_day() -> None:
    lines = [f"03/04/2026 06:15:{n:02} client {n} is in" for n in range(60)] * 3
    with pytest.raises(LogFormatError, match="could be the month"):
        layout_of([*lines[:70], "25/04/2026 06:15:04 nightly backup", *lines])
    # Where a new day begins at the end, that tells.
    last = layout_of([*lines, "25/04/2026 06:15:04 nightly backup"])
    assert last is not None
    assert last.stamp.name == "DD/MM/YYYY hh:mm:ss"


def test_a_form_of_most_lines_that_tells_less_is_chosen_where_the_finer_one_is_rare() -> None:
    lines = [f"2026-06-14 06:{n:02} client is in" for n in range(50)]
    layout = layout_of([*lines, *(f"2026-06-14 07:{n:02}:10 more" for n in range(9))])
    assert layout is not None
    assert layout.stamp.name == "YYYY-MM-DD hh:mm"


def test_the_time_of_a_message_is_none_of_the_line() -> None:
    lines = [f"2026-06-14 06:15:04 expires 2027-01-01T00:00:{n:02}.123Z" for n in range(40)]
    layout = layout_of([*lines, *("2026-06-14 06:15:05 no more" for _ in range(4))])
    assert layout is not None
    assert layout.stamp.name == "YYYY-MM-DD hh:mm:ss"
