"""Tables without a header whose values in quotes go on in further lines, read as logs of lines."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.lines import log as lines_log
from cepctl.io.log4j import lines as blocks

ROWS = (
    '2026-06-14 08:15:04.123 UTC,A,"one line"\n',
    '2026-06-14 08:15:05.123 UTC,B,"first, and ""so""\n2026-06-14 08:15:06.500 begins with a time\nthird"\n',
    '2026-06-14 08:15:07.123 UTC,C,"x"\n',
    '2026-06-14 08:15:08.123 UTC,D,"y"\n',
)


def messages(folder: Path, text: str) -> list[str]:
    (folder / "log.csv").write_text(text)
    cepctl.ingest(folder / "log.csv", folder / "events", overwrite=True)
    found: list[str] = pq.read_table(folder / "events").column("message").to_pylist()
    return found


def test_a_line_that_begins_with_a_time_inside_of_quotes_is_no_record(tmp_path: Path) -> None:
    found = messages(tmp_path, "".join(ROWS))
    assert [message[:2] for message in found] == [",A", ",B", ",C", ",D"]
    assert found[1].endswith('begins with a time\nthird"')


@pytest.mark.parametrize("size", [64, 100, 150, 1_000])
def test_blocks_of_any_size_find_the_same_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
    assert len(messages(tmp_path, "".join(ROWS * 5))) == 20


def test_a_quote_that_damage_has_opened_hides_no_rows(tmp_path: Path) -> None:
    damaged = ROWS[0] + ROWS[2].replace('"x"', '"x') + ROWS[2] * 3 + ROWS[3] * 3
    assert len(messages(tmp_path, damaged)) == 8


def test_such_a_file_is_not_read_in_parts() -> None:
    assert lines_log.line_records("".join(ROWS).encode(), ReadOptions()) is None
    assert lines_log.line_records("".join(ROWS).replace('"', "").encode(), ReadOptions()) is not None
