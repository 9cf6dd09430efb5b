"""A first line of 70 KB, longer than what tells a format, is one line like any other."""

from __future__ import annotations

import io
from pathlib import Path
from typing import cast

import pytest

from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.io.source.first_lines import HEAD_BYTES, sample_of, with_room
from tests.foreign_lines import FORMS, ForeignLine, judged

FEW = 100
LONG = {
    "a word": "x" * 70_000,
    "words": "hello world " * 6_000,
    "pairs": "a= " * 24_000,
    "=": "a " + "=" * 70_000,
}


def stream_of(text: bytes) -> io.BufferedReader:
    return io.BufferedReader(cast(io.RawIOBase, io.BytesIO(text)), HEAD_BYTES)


@pytest.mark.parametrize("long", LONG)
@pytest.mark.parametrize("form", FORMS)
def test_a_long_first_line_costs_itself_alone(form: str, long: str) -> None:
    assert judged(ForeignLine(form, LONG[long], 0, FEW)) is None


@pytest.mark.parametrize("long", ["=", "pairs"])
def test_a_long_first_record_is_read(long: str, tmp_path: Path) -> None:
    lines = [f"2026-06-14 10:00:{number % 60:02} app: {number}" for number in range(300)]
    (tmp_path / "x.log").write_text("\n".join([f"{lines[0]} {LONG[long]}", *lines]))
    summary = ingest([str(tmp_path / "x.log")], str(tmp_path / "events"), IngestOptions())
    assert (summary.events, summary.rejected) == (301, {})


@pytest.mark.parametrize(
    "text",
    [
        b"a short line\n" * 20_000,
        b"{" + b'"a": 1, ' * 20_000 + b"}\n",
        b"<a>" + b"b " * 50_000 + b"\n</a>",
        b"a\tlong\theader\t" * 9_000 + b"\n1",
        b"x" * 1_000 + b"\0" + b"x" * 100_000 + b"\n",
        b"\0" * 100_000 + b"\n",
    ],
)
def test_other_texts_are_as_they_were(text: bytes) -> None:
    stream = stream_of(text)
    assert sample_of(with_room(stream)) == text[:HEAD_BYTES]
    assert stream.read() == text


def test_a_line_that_does_not_end_is_its_beginning() -> None:
    stream = with_room(stream_of(b"x" * (9 << 20)))
    assert sample_of(stream) == b"x" * HEAD_BYTES
