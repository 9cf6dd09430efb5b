"""The text of a delimited file is read no further ahead than its rows are judged."""

from __future__ import annotations

import io

import pytest

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_named
from cepctl.io.tabular import transcript

ROWS = 4_000_000


def test_the_parser_does_not_read_far_ahead_of_the_rows_that_are_judged() -> None:
    text = io.BytesIO(b"event_type,time\n" + b"A,5\n" * ROWS)
    batches = format_named("csv").reader.read(io.BufferedReader(text), "log.csv", ReadOptions(), ReadReport())
    next(batches)
    assert text.tell() <= transcript._AHEAD_BYTES + (4 << 20)
    batches.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("line_end", ["\r", "\n"])
def test_text_whose_rows_are_not_forgotten_is_read_to_its_end(
    line_end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "_AHEAD_BYTES", 1)
    monkeypatch.setattr(transcript, "_PATIENCE_SECONDS", 0.01)
    rows = "event_type,time\n" + line_end.join([*["A,5"] * 10, "B", "A,7", ""])
    report = ReadReport()
    stream = io.BufferedReader(io.BytesIO(rows.encode()))
    batches = list(format_named("csv").reader.read(stream, "log.csv", ReadOptions(), report))
    assert sum(map(len, batches)) == 11
    assert [reject.cause for reject in report.rejects] == ["the row does not have 2 fields like the header"]
