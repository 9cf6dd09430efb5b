"""What docker compose prints, as a file: containers, times before lines and in JSON, and colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.errors import LogFormatError
from cepctl.io.source.colours import WithoutColours, has_colours, without_colours

LINES = (
    "web-1    | 2026-06-14T08:15:04.123456789Z ready on :8080\n"
    'caddy    | {"level":"info","ts":1781424905.5,"msg":"serving","port":443}\n'
)


def taken(folder: Path, text: str) -> tuple[list[dict[str, Any]], Any]:
    (folder / "x.log").write_text(text)
    made = cepctl.ingest(folder / "x.log", folder / "events", overwrite=True)
    return pq.read_table(folder / "events").sort_by("lower").to_pylist(), made.summary


def test_lines_of_several_containers(tmp_path: Path) -> None:
    rows, summary = taken(tmp_path, LINES)
    assert (summary.accounts[0].format, summary.rejected) == ("compose", {})
    assert [(row["container"], row["message"], row["port"]) for row in rows] == [
        ("web-1", "ready on :8080", None),
        ("caddy", "serving", 443),
    ]
    assert [str(row["time"])[11:26] for row in rows] == ["08:15:04.123456", "08:15:05.500000"]


def test_colours_are_no_part_of_lines(tmp_path: Path) -> None:
    coloured = LINES.replace("web-1 ", "\x1b[36mweb-1 \x1b[0m").replace("ready", "\x1b[1;32mready\x1b[0m")
    assert taken(tmp_path, coloured)[0] == taken(tmp_path, LINES)[0]


def test_colours_are_left_out_wherever_a_stream_is_cut() -> None:
    class OneByOne:
        def __init__(self, data: bytes) -> None:
            self.data = data

        def read1(self, _: int) -> bytes:
            piece, self.data = self.data[:1], self.data[1:]
            return piece

        read = read1

    text = b"\x1b[31m08:15\x1b[0m \x1b[1;4;38;5;12mx\x1b[0m\n" * 3 + b"\x1b["
    stream = WithoutColours(OneByOne(text))  # type: ignore[arg-type]
    assert stream.read() == without_colours(text) == b"08:15 x\n" * 3 + b"\x1b["


def test_binary_data_has_no_colours() -> None:
    assert has_colours(b"\x1b[31mx\n")
    assert not has_colours(b"\x1b[31mx\0\n")
    assert not has_colours(b"x\n" * 20 + b"\x1b[31mx\n")


def test_lines_without_times_are_refused_by_name_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(LogFormatError, match="docker compose logs -t"):
        taken(tmp_path, "web-1  |  * Serving\nweb-1  |  * Debug mode: on\nweb-1  | ready\n")
    own = "".join(f"redis-1  | 1:C 14 Jun 2026 08:15:0{n}.018 * ready\n" for n in range(2))
    with pytest.raises(LogFormatError, match="docker compose logs -t"):
        taken(tmp_path, "web-1    |  * Serving\n" * 9 + own)
