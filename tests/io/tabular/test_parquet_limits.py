"""Parquet that unpacks to far more than it has bytes is read in pieces, or refused with the number."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.source.text_encoding import BAD_UTF8
from cepctl.io.tabular import parquet_limits, parquet_pieces
from cepctl.io.tabular.files import ParquetReader
from cepctl.schema import META_TIME_UNIT


def written(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def events(notes: list[Any]) -> pa.Table:
    return pa.table({"event_type": ["A"] * len(notes), "time": list(range(len(notes))), "note": notes})


def read(data: bytes, report: ReadReport | None = None) -> list[pa.RecordBatch]:
    return list(ParquetReader().read(io.BytesIO(data), "a.parquet", ReadOptions(), report or ReadReport()))


def rows_and_memory(data: bytes) -> tuple[int, int]:
    """How many rows a file has, and the most that Arrow took at a time to read them."""
    before = pa.total_allocated_bytes()
    most = rows = 0
    for batch in ParquetReader().read(io.BytesIO(data), "a.parquet", ReadOptions(), ReadReport()):
        rows += len(batch)
        most = max(most, pa.total_allocated_bytes() - before)
    return rows, most


def test_a_text_that_a_dictionary_holds_once_is_unpacked_piece_by_piece(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parquet_pieces, "PIECE_BYTES", 1_000)
    notes = ["x" * 400, None, "y" * 400, "x" * 400, "", "z" * 3_000, "x"]
    batches = read(written(events(notes)))
    assert [batch.column("note").to_pylist() for batch in batches] == [notes[:4], notes[4:6], notes[6:]]
    assert [n for batch in batches for n in batch.column("number").to_pylist()] == [1, 2, 3, 4, 5, 6, 7]


def test_a_small_file_of_large_texts_takes_memory_for_a_piece_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parquet_pieces, "PIECE_BYTES", 8 << 20)
    data = written(events(["x" * (1 << 17)] * 600), compression="zstd")
    assert len(data) < 100_000
    rows, most = rows_and_memory(data)
    assert rows == 600
    assert most < 5 * parquet_pieces.PIECE_BYTES


def in_dictionaries(notes: pa.Array, **options: Any) -> list[str]:
    """The columns of a file with these notes that come in dictionaries, but that of the types, always one."""
    file = parquet_limits.open_parquet(io.BytesIO(written(events(notes), **options)), "a.parquet")
    first, *found = [field.name for field in file.schema_arrow if pa.types.is_dictionary(field.type)]
    assert first == "event_type"
    return found


NUMBERED = [f"note {number}" for number in range(10_000)]
LONG = [*NUMBERED[1:], "x" * 100_000]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_short_texts_come_as_they_are(kind: pa.DataType) -> None:
    assert in_dictionaries(pa.array(NUMBERED, kind)) == []
    (batch,) = read(written(events(pa.array(NUMBERED, kind))))
    assert batch.column("note").equals(pa.array(NUMBERED))


def test_texts_of_which_one_is_long_come_in_dictionaries() -> None:
    assert in_dictionaries(LONG) == ["note"]
    assert in_dictionaries(LONG, row_group_size=5_000) == ["note"]


def test_long_texts_that_are_packed_without_a_dictionary_come_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"compression": "zstd", "use_dictionary": ["event_type"]}
    assert in_dictionaries(NUMBERED, **data) == []
    monkeypatch.setattr(parquet_limits, "PIECE_BYTES", 100_000)
    assert in_dictionaries(NUMBERED, **data) == ["note"]


def test_row_groups_that_are_read_at_once_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"use_dictionary": ["event_type"], "row_group_size": 5_000}
    monkeypatch.setattr(parquet_limits, "PIECE_BYTES", 150_000)
    assert in_dictionaries(NUMBERED, **data) == ["note"]
    monkeypatch.setattr(parquet_limits, "BLOCK_ROWS", 1)
    assert in_dictionaries(NUMBERED, **data) == []


def test_columns_of_text_count_together() -> None:
    table = events([f"{number % 2_000:0300}" for number in range(10_000)])
    for name in ("more", "again", "last"):
        table = table.append_column(name, table.column("note"))
    file = parquet_limits.open_parquet(io.BytesIO(written(table)), "a.parquet")
    kinds = [pa.types.is_dictionary(file.schema_arrow.field(name).type) for name in table.column_names]
    assert sorted(kinds) == [False, False, False, False, True, True]  # the types are one of them


def test_an_encoding_that_repeats_what_came_before_is_no_bound() -> None:
    file = written(events(NUMBERED), use_dictionary=False, column_encoding={"note": "DELTA_BYTE_ARRAY"})
    opened = parquet_limits.open_parquet(io.BytesIO(file), "a.parquet")
    assert pa.types.is_dictionary(opened.schema_arrow.field("note").type)


@pytest.mark.parametrize("dictionary", [True, False])
def test_many_rows_of_a_long_text_take_memory_for_a_piece_of_them(dictionary: bool) -> None:
    data = written(events(["x" * 10_000] * 30_000), compression="zstd", use_dictionary=dictionary)
    assert len(data) < 300_000
    rows, most = rows_and_memory(data)
    assert rows == 30_000
    assert most < 3 * parquet_pieces.PIECE_BYTES


@pytest.mark.parametrize("dictionary", [True, False])
def test_a_row_group_that_unpacks_to_too_much_is_refused_before_it_is_read(
    dictionary: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = written(events(["x" * 10_000, "y" * 10_000]), use_dictionary=dictionary)
    monkeypatch.setattr(parquet_limits, "MOST_GROUP_BYTES", 15_000)
    with pytest.raises(LogFormatError, match=r"a\.parquet: row group 1 unpacks to 20,\d{3} bytes"):
        read(data)


def test_too_large_a_row_group_comes_with_how_many_rows_it_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    data = written(events(["x" * 10_000] * 10), use_dictionary=False)
    monkeypatch.setattr(parquet_limits, "MOST_GROUP_BYTES", 50_000)
    with pytest.raises(
        LogFormatError, match=r"; write the file again, with no more than 4 rows in a row group$"
    ):
        read(data)


def test_one_value_that_is_too_large_is_named_by_its_row_and_column(monkeypatch: pytest.MonkeyPatch) -> None:
    data = written(events(["x", "y", "z" * 100_000, "x"]), row_group_size=1)
    monkeypatch.setattr(parquet_limits, "MOST_GROUP_BYTES", 50_000)
    said = (
        "; it holds row 3 alone, and column 'note' is the largest in it: shorten that value, or leave the row"
    )
    with pytest.raises(LogFormatError, match=said):
        read(data)


def test_lists_that_unpack_to_too_much_are_refused_before_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = written(events([[7] * 100_000] * 3))
    assert len(data) < 50_000
    monkeypatch.setattr(parquet_limits, "MOST_GROUP_BYTES", 1 << 20)
    with pytest.raises(LogFormatError, match="unpacks to 2,400,000 bytes, more than the 1,048,576 that are"):
        read(data)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_text_that_is_no_utf8_is_replaced_and_said(kind: pa.DataType) -> None:
    table = events(pa.array(["before", "bad one", "after"], kind))
    data = written(table, compression="none").replace(b"bad one", b"bad\xffone")
    report = ReadReport()
    (batch,) = read(data, report)
    assert batch.column("note").to_pylist() == ["before", "bad\ufffdone", "after"]
    assert report.warnings == [BAD_UTF8]


@pytest.mark.parametrize("unit", [b"1 mz", b"1 \xff", b"0 s"])
def test_a_time_unit_that_is_none_is_said_to_be_damage(unit: bytes) -> None:
    data = written(events(["x"]).replace_schema_metadata({META_TIME_UNIT: unit}))
    with pytest.raises(LogFormatError, match=r"a\.parquet: damaged Parquet: "):
        read(data)


def test_the_name_of_a_column_that_is_no_text_is_said_to_be_damage() -> None:
    data = written(events(["x"]), store_schema=False).replace(b"note", b"n\xffte")
    with pytest.raises(LogFormatError, match=r"a\.parquet: damaged Parquet: "):
        read(data)


def test_rows_that_the_file_counts_and_does_not_give_are_said_to_be_missing() -> None:
    data = written(events(["x"] * 60), row_group_size=30)
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    found = set()
    for place in range(footer, len(data) - 8):
        if data[place] == 2 * 30:  # as the footer writes 30
            report = ReadReport()
            try:
                rows = sum(map(len, read(data[:place] + bytes([2 * 29]) + data[place + 1 :], report)))
            except LogFormatError:
                continue
            found.add((rows, *(reject.cause for reject in report.rejects)))
    assert (59, "rows are missing: the file counts 60, and gives 59") in found
    assert all(rows == 60 or causes for rows, *causes in found)


def test_a_page_that_its_checksum_belies_is_not_read() -> None:
    notes = ["some text"] * 5_000
    data = written(events(notes), write_page_checksum=True, use_dictionary=False, compression="none")
    with pytest.raises(LogFormatError, match=r"damaged Parquet.*CRC checksum"):
        read(data.replace(b"some text", b"same text"))


BIG, ROWS = "x" * (1 << 20), 60
REPEATED: dict[str, tuple[Any, pa.DataType | None]] = {
    "list": ([BIG, None], None),
    "lists": ([[BIG], []], pa.list_(pa.large_list(pa.string()))),
    "struct": ({"s": BIG, "n": 1}, None),
    "map": ([("k", BIG)], pa.map_(pa.string(), pa.string())),
    "bytes": (BIG.encode(), None),
}


def repeated(kind: str, rows: int) -> pa.Array:
    value, of = REPEATED[kind]
    return pa.array([value] * rows, of)


@pytest.mark.parametrize("kind", REPEATED)
def test_a_text_within_others_that_a_dictionary_holds_once_is_unpacked_piece_by_piece(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_pieces, "PIECE_BYTES", 4 << 20)
    table = events([None] * ROWS).set_column(2, "note", repeated(kind, ROWS))
    data = written(table, compression="zstd")
    assert len(data) < 100_000
    rows, most = rows_and_memory(data)
    assert rows == ROWS
    assert most < ROWS * len(BIG) / 2


@pytest.mark.parametrize("kind", REPEATED)
def test_what_is_within_others_is_read_as_it_was(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few = repeated(kind, 7)
    plain = read(written(events([None] * 7).set_column(2, "note", few), use_dictionary=False))
    monkeypatch.setattr(parquet_pieces, "PIECE_BYTES", 3 << 20)
    batches = read(written(events([None] * 7).set_column(2, "note", few)))
    assert len(batches) > 2
    columns = [pa.concat_arrays([each.column("note") for each in found]) for found in (plain, batches)]
    assert columns[0].equals(columns[1])


def test_a_row_that_is_longer_than_any_line_may_be_is_a_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in formats of lines: what is made of it would take many times its room."""
    monkeypatch.setattr(parquet_pieces, "LONGEST_ROW", 1_000)
    notes, report = ["x", "y" * 1_001, "z" * 999, None, "y" * 1_001], ReadReport()
    (batch,) = read(written(events(notes)), report)
    assert batch.column("note").to_pylist() == ["x", "z" * 999, None]
    assert batch.column("number").to_pylist() == [1, 3, 4]
    assert report.records == 5
    cause = "the row is longer than 64 MiB"
    assert [(each.cause, each.text) for each in report.rejects] == [(cause, "record 2"), (cause, "record 5")]


def test_texts_of_one_row_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_pieces, "LONGEST_ROW", 1_000)
    table, report = events(["x" * 600, "x"]), ReadReport()
    table = table.append_column("more", pa.array([["y" * 300, "y" * 300], []]))
    (batch,) = read(written(table), report)
    assert (batch.column("number").to_pylist(), report.records) == ([2], 2)


def test_values_of_one_width_that_a_dictionary_holds_once_are_counted_before_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parquet_limits, "MOST_GROUP_BYTES", 50 << 20)
    wide = pa.array([b"x" * (1 << 20)] * 60, pa.binary(1 << 20))
    data = written(events([None] * 60).set_column(2, "note", wide), compression="zstd")
    assert len(data) < 100_000
    with pytest.raises(LogFormatError, match=r"row group 1 unpacks to 62,914,560 bytes"):
        read(data)
