"""Logs of lines and of JSON that grow: records, layouts and templates are those of the runs before."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cepctl.cli import main

QUERY = "PATTERN SEQ('Accepted badge of' a, 'Door stays open' d) WITHIN 2 s RETURN a.user, d.duration"
LINES = (
    "2026-06-14 08:15:01,001 - WARN  [main:Gate@15] - Door 7 stays open for 50 ms\n",
    "2026-06-14 08:15:01,002 - WARN  [main:Gate@15] - Door 8 stays open for 60 ms\n",
    "2026-06-14 08:15:04,978 - INFO  [main:Gate@12] - Accepted badge 4711 of user ann from 10.0.0.7\n",
    "2026-06-14 08:15:04,990 - INFO  [main:Gate@12] - Accepted badge 4713 of user cy from 10.0.0.8\n",
    "2026-06-14 08:15:05,001 - WARN  [main:Gate@15] - Door 3 stays open for 250 ms\n",
    "java.io.IOException: no answer\n",
    "\tat Gate.read(Gate.java:7)\n",
    "2026-06-14 08:15:09,120 - INFO  [main:Gate@12] - Accepted badge 4712 of user bob from 10.0.0.9\n",
    "2026-06-14 08:15:10,300 - WARN  [main:Gate@15] - Door 1 stays open for 90 ms\n",
    "2026-06-14 08:15:12,300 - WARN  [main:Gate@15] - Door 1 stays open for 80 ms\n",
)
TILL = tuple(
    f"0{day}/04/2026 12:00:01 till {day} {what}\n" for day in (3, 4) for what in ("opened", "closed")
)


def runs(folder: Path, pieces: list[str], query: str, *options: str, name: str = "a.log") -> list[str]:
    """The rows of runs over a log to which the pieces are appended."""
    log, out = folder / name, folder / "rows"
    for number, piece in enumerate(pieces, start=1):
        with log.open("a") as file:
            file.write(piece)
        final = ["--final"] if number == len(pieces) else []
        given = ["match", query, str(log), "--state", str(folder / "state"), "-o", str(out)]
        assert main([*given, *options, *final]) == 0
    return [row for file in sorted(out.iterdir()) for row in file.read_text().splitlines()[1:]]


def plain(row: str) -> str:
    """A row whose times are told to the millisecond: ticks of a log that grows have room for more records."""
    return re.sub(r"(\.\d{3})000000Z", r"\1Z", row)


def rows_at_once(folder: Path, query: str, name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["match", query, str(folder / name), "--runner", "local"]) == 0
    return capsys.readouterr().out.splitlines()[1:]


@pytest.mark.parametrize("cut", [5, 6, 7])
def test_a_log_that_grows_gives_the_rows_of_the_whole_log(
    cut: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pieces = ["".join(LINES[:cut]), "".join(LINES[cut:])]
    found = runs(tmp_path, pieces, QUERY)
    assert len(found) == 3
    assert [plain(row) for row in found] == rows_at_once(tmp_path, QUERY, "a.log", capsys)


def test_the_first_templates_name_the_types_of_what_comes_later(tmp_path: Path) -> None:
    # Alone, the messages of the second run would be of types of their own: nothing varies in them.
    first = "".join(f"2026-06-14 08:15:0{n} INFO user {n}{name} is in\n" for n, name in enumerate("abcd"))
    later = "2026-06-14 08:16:01 INFO user 9x is in\n2026-06-14 08:16:02 INFO user 9x is in\n"
    found = runs(tmp_path, [first, later], "PATTERN SEQ('user is in' a, 'user is in' b) RETURN b.user")
    assert [row.partition(",")[0] for row in found][-1] == "9x"
    (manifest,) = (tmp_path / "state").glob("run-*/manifest.json")
    kept = json.loads(manifest.read_text().partition("\n")[2])["templates"]
    assert [each[0] for each in kept] == ["user is in"]


def test_a_form_that_the_user_named_holds_for_what_comes_later(tmp_path: Path) -> None:
    form = ("--time-format", "%m/%d/%Y %H:%M:%S", "--tz", "UTC")
    query = "PATTERN SEQ('till opened' a, 'till closed' b) WITHIN 1 d"
    found = runs(tmp_path, ["".join(TILL[:2]), "".join(TILL[2:])], query, *form)
    assert all(row.split(",")[1].startswith("2026-0") for row in found)
    assert "2026-03-04" in found[0]


def test_json_lines_grow_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        json.dumps({"ts": f"2026-06-14T08:15:0{n}.5Z", "msg": f"order {n} {what}", "by": {"name": who}})
        + "\n"
        for n, (what, who) in enumerate([("paid", "ann"), ("sent", "bob"), ("paid", "cy"), ("sent", "dee")])
    ]
    query = "PATTERN SEQ('order paid' a, 'order sent' b) WITHIN 1500 ms RETURN a.`by.name`"
    found = runs(tmp_path, ["".join(lines[:2]) + "\n", "".join(lines[2:])], query, name="a.json")
    assert [row.partition(",")[0] for row in found] == ["ann", "cy"]
    assert found == rows_at_once(tmp_path, query, "a.json", capsys)


DOOR = "PATTERN SEQ(sshd a, sudo b) WITHIN 5 s RETURN a.record, b.record"
GATE = (
    "2026-06-14T08:15:01 gw sshd[1]: Accepted password for ann\n",
    "2026-06-14T08:15:01 gw sudo[2]: ann : COMMAND=/bin/sh\n",
    "2026-06-14T08:15:01 gw sshd[3]: Accepted password for bob\n",
    "2026-06-14T08:15:01 gw sudo[4]: bob : COMMAND=/bin/id\n",
    "2026-06-14T08:15:04 gw sshd[5]: Accepted password for cy\n",
)


def test_lines_of_one_second_that_come_one_by_one_are_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = runs(tmp_path, list(GATE), DOOR, name="auth.log")
    assert [row.split(",")[:3] for row in found] == [["1", "2", "1.0"], ["1", "4", "1.0"], ["3", "4", "1.0"]]
    at_once = rows_at_once(tmp_path, DOOR, "auth.log", capsys)
    assert found == at_once


def test_a_row_waits_for_what_may_still_narrow_it(tmp_path: Path) -> None:
    """Each line of a second says of those before that they are early in it."""
    runs(tmp_path, [*GATE[:4], GATE[4]], DOOR, name="auth.log")
    rows = [len(file.read_text().splitlines()) - 1 for file in sorted((tmp_path / "rows").iterdir())]
    assert rows == [0, 0, 0, 0, 3]


def test_stamps_that_turn_out_to_be_shared_leave_room(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line is known to its millisecond, until another of the same comes."""
    query = "PATTERN SEQ('Accepted badge of' a, 'Door stays open' d) WITHIN 2 s"
    badge = "2026-06-14 08:15:05,001 - INFO  [main:Gate@12] - Accepted badge 4714 of user dee from 10.0.0.7\n"
    door = "2026-06-14 08:15:05,001 - WARN  [main:Gate@15] - Door 9 stays open for 10 ms\n"
    found = runs(tmp_path, ["".join(LINES[:5]), badge, door, *LINES[7:]], query)
    assert "1.0,2026-06-14T08:15:05.001000001Z,2026-06-14T08:15:05.001999999Z,a.log#6 a.log#7" in found
    assert sorted(found) == sorted(rows_at_once(tmp_path, query, "a.log", capsys))


def test_the_order_is_left_out_where_a_user_says_so(tmp_path: Path) -> None:
    found = runs(tmp_path, list(GATE), DOOR, "--no-writer", name="auth.log")
    assert len(found) == 4


NUMBERED = "".join(
    json.dumps({"event_type": kind, "time": f"2026-06-01T10:00:{second:02}Z", "node": "n1", "seq": number})
    + "\n"
    for kind, number, second in (
        *(("order", 1, 0), ("check", 2, 0), ("pack", 3, 0), ("send", 4, 1), ("order", 5, 5)),
        *(("send", 7, 6), ("pack", 6, 6), ("order", 8, 9)),
    )
)


@pytest.mark.parametrize("cut", [1, 3, 5, 6, 7])
def test_events_that_are_numbered_are_in_that_order_whenever_they_come(
    cut: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model.toml"
    model.write_text('[[rule]]\nwriter = { by = ["node"], along = "seq" }\n')
    lines = NUMBERED.splitlines(keepends=True)
    query = "PATTERN SEQ(pack a, send b) WITHIN 5 s"
    pieces = ["".join(lines[:cut]), "".join(lines[cut:])]
    found = runs(tmp_path, pieces, query, "--uncertainty", str(model), name="a.jsonl")
    assert [(row.split(",")[0], row.split(",")[-1]) for row in found] == [
        ("1.0", "a.jsonl#3 a.jsonl#4"),
        ("1.0", "a.jsonl#7 a.jsonl#6"),
    ]


def test_what_is_numbered_before_an_event_that_is_settled_is_late(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = json.dumps({"event_type": "pack", "time": "2026-06-01T10:00:11Z", "node": "n1", "seq": 2})
    model = tmp_path / "model.toml"
    model.write_text('[[rule]]\nwriter = { by = ["node"], along = "seq" }\n')
    listed = tmp_path / "late.jsonl"
    given = ("--uncertainty", str(model), "--late", str(listed))
    runs(tmp_path, [NUMBERED, f"{late}\n"], "PATTERN SEQ(pack a, send b) WITHIN 5 s", *given, name="a.jsonl")
    assert [json.loads(line)["event_id"] for line in listed.read_text().splitlines()] == ["a.jsonl#9"]
    said = capsys.readouterr().err
    assert "1 event came too late and was left out; --late lists them, a longer --slack waits" in said
