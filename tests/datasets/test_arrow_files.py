"""Tables in Arrow's own format: read as they were written, and columns that hold nothing take no room."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import fs

from cepctl.datasets.arrow_files import arrow_schema_of, read_arrow, rows_in_arrow, write_arrow
from cepctl.event_table import FIXED_COLUMNS

HERE = fs.LocalFileSystem()
SCHEMA = pa.schema(
    [
        *FIXED_COLUMNS.items(),
        pa.field("text", pa.string(), metadata={"inferred": "yes"}),
        ("nothing", pa.null()),
        ("x", pa.float64()),
    ],
    {"unit": "1 ms"},
)
ROWS: list[dict[str, object]] = [
    {"event_id": str(number), "lower": number, "x": None if number % 2 else number / 3, "text": "ab"}
    for number in range(10)
]


def written(folder: Path, rows: list[dict[str, object]], rows_of_batch: int = 4) -> str:
    path = str(folder / "events.arrow")
    write_arrow(pa.Table.from_pylist(rows, SCHEMA), path, HERE, rows_of_batch)
    return path


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], []])
def test_a_table_is_read_as_it_was_written(tmp_path: Path, rows: list[dict[str, object]]) -> None:
    path, table = written(tmp_path, rows), pa.Table.from_pylist(rows, SCHEMA)
    found = read_arrow(path, HERE)
    assert found.equals(table)
    assert found.schema.equals(SCHEMA, check_metadata=True)
    assert arrow_schema_of(path, HERE).equals(SCHEMA, check_metadata=True)
    assert rows_in_arrow(path, HERE) == len(rows)


def test_columns_come_in_the_order_asked_for_and_batches_apart(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    names = ["x", "pmf", "event_id"]
    table = pa.Table.from_pylist(ROWS, SCHEMA).select(names)
    assert read_arrow(path, HERE, names, [2, 0]).equals(pa.concat_tables([table[8:], table[:4]]))
    assert [len(piece) for piece in read_arrow(path, HERE, ["x"]).column("x").chunks] == [4, 4, 2]


def test_no_batch_is_empty(tmp_path: Path) -> None:
    path = str(tmp_path / "events.arrow")
    table = pa.Table.from_pylist(ROWS, SCHEMA)
    write_arrow(pa.concat_tables([SCHEMA.empty_table(), table[:3], table[3:3], table[3:]]), path, HERE, 4)
    found = read_arrow(path, HERE)
    assert found.equals(table)
    assert [len(piece) for piece in found.column("lower").chunks] == [3, 4, 3]


def test_columns_that_hold_nothing_take_no_room(tmp_path: Path) -> None:
    path = written(tmp_path, [{"event_id": "a"}] * 10_000, 10_000)
    assert Path(path).stat().st_size < 10_000 * (len("a") + 4) + 10_000
