"""Records of several lines in any text: they begin where a pattern says, and are bounded."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from cepctl.cli import main
from cepctl.errors import LogFormatError, LogPatternError
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_named, recognised_format
from cepctl.io.log4j.patterns import parse_patterns

CRASH = LogPattern(
    "Crash", r"(?s)^== (?P<time>\S+) .*signal (?P<signal>\d+)", (), None, ("time", "signal"), "^== "
)
TEXT = "a banner\n== 2026-06-14T08:15:04Z crash\nthread 3\nsignal 11\n\n== 2026-06-14T08:15:09Z fine\n"


def read(text: str, *patterns: LogPattern) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    known, options = format_named("text"), ReadOptions(patterns=patterns)
    batches = known.reader.read(io.BytesIO(text.encode()), "a.log", options, report)
    return [event for batch in batches for event in batch.to_pylist()], report


def test_a_pattern_sees_all_lines_of_a_record() -> None:
    (event,), report = read(TEXT, CRASH)
    assert (event["event_type"], event["number"], event["signal"]) == ("Crash", 2, "11")
    assert [(reject.line, reject.cause, reject.text) for reject in report.rejects] == [
        (1, "before the first record of the log", "a banner")
    ]
    assert (report.records, dict(report.skipped)) == (3, {"no pattern fits the line": 1})


def test_every_pattern_may_mark_its_own_beginnings() -> None:
    note = LogPattern("Note", r"(?s)^-- (?P<time>\S+)\n(?P<said>.*)", (), None, ("time", "said"), "^-- ")
    events, _ = read(f"{TEXT}-- 2026-06-14T08:15:10Z\nall\nis well\n", CRASH, note)
    assert [(event["event_type"], event["number"]) for event in events] == [("Crash", 2), ("Note", 7)]
    assert events[1]["said"] == "all\nis well"


def test_a_beginning_that_never_comes_is_refused() -> None:
    with pytest.raises(
        LogFormatError, match=r"a\.log: none of its lines begins a record as 'begins' .*: \^=="
    ):
        read("no beginning\n" * 400_000, CRASH)


def test_a_record_of_a_million_lines_is_cut_and_said() -> None:
    text = "== 2026-06-14T08:15:04Z crash signal 7\n" + "x\n" * 1_000_000 + TEXT.partition("\n")[2]
    events, report = read(text, CRASH)
    assert [(event["number"], event["signal"]) for event in events] == [(1, "7"), (1_000_002, "11")]
    assert report.notes == {"records of more than 1,048,576 bytes, of which the rest was left out: {:,}": 1}
    assert report.records == 3


def test_records_of_several_lines_are_not_divided_by_lines() -> None:
    head = TEXT.encode()
    known = recognised_format(head, "a.log", patterned=True)
    assert known.name == "text"
    assert known.lines is not None
    assert known.lines(head, ReadOptions(patterns=(CRASH,))) is None
    assert known.lines(head, ReadOptions()) is not None


def test_the_expression_is_checked_with_the_patterns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "[[pattern]]\nevent_type = 'A'\nregex = '(?P<time>.*)'\nbegins = "
    with pytest.raises(LogPatternError, match=r"p\.toml:4: pattern 1: 'begins' is not usable \(RE2 syntax\)"):
        parse_patterns(f"{text}'('".encode(), "p.toml")
    with pytest.raises(
        LogPatternError, match=r"p\.toml:4: pattern 1: 'begins' must be a text that is not empty"
    ):
        parse_patterns(f"{text}7".encode(), "p.toml")
    (tmp_path / "p.toml").write_text(f"{text}'^== '")
    (tmp_path / "x.txt").write_text("nothing of it\n")
    words = ("ingest", str(tmp_path / "x.txt"), "-o", str(tmp_path / "events"), "--runner", "local")
    assert main([*words, "--patterns", str(tmp_path / "p.toml")]) == 3
    assert "x.txt: none of its lines begins a record" in capsys.readouterr().err
