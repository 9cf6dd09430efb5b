"""Raw events become typed columns."""

from __future__ import annotations

import pyarrow as pa

from cepctl.io.contract.batches import End, EventBatches
from cepctl.io.contract.natural_columns import natural_array
from cepctl.io.contract.reader import RAW_COLUMNS, ReadOptions


def test_attributes_follow_the_raw_columns_and_are_null_where_absent() -> None:
    rows = EventBatches(ReadOptions())
    rows.add("cpu_user", 5, {"node": "n1", "value": 0.5})
    rows.add("Start", None, {"task": 7}, zone_seconds=3600, before=1, after=2)
    batch = rows.take()
    assert batch.schema.names == [*RAW_COLUMNS, "node", "value", "task"]
    assert batch.column("event_type").to_pylist() == ["cpu_user", "Start"]
    assert batch.column("number").to_pylist() == [1, 2]
    assert batch.column("time").cast(pa.int64()).to_pylist() == [5, None]
    assert batch.column("value").to_pylist() == [0.5, None]
    assert batch.column("task").type == pa.int64()
    assert (batch["zone_seconds"][1].as_py(), batch["before"][1].as_py(), batch["after"][1].as_py()) == (
        3600,
        1,
        2,
    )


def test_numbers_run_on_from_batch_to_batch() -> None:
    rows = EventBatches(ReadOptions(), size=2)
    for _ in range(2):
        rows.add("A", 0, {})
    assert rows.full
    rows.take()
    assert not rows.full
    rows.add("A", 0, {})
    assert rows.take().column("number").to_pylist() == [3]


def test_an_attribute_named_like_a_column_is_prefixed() -> None:
    rows = EventBatches(ReadOptions())
    rows.add("A", 0, {"time": "noon", "number": 3, "x": 1})
    assert rows.take().schema.names == [*RAW_COLUMNS, "attr:time", "attr:number", "x"]


def test_mixed_values_become_text_as_arrow_writes_it() -> None:
    assert natural_array([1, 2.5, "x", True, None]).to_pylist() == ["1", "2.5", "x", "true", None]
    assert natural_array([1, 2**70]).to_pylist() == ["1", str(2**70)]
    assert natural_array([1, 2.5]).to_pylist() == [1.0, 2.5]
    assert natural_array([10**400, 2.5]).to_pylist() == [str(10**400), "2.5"]
    assert natural_array([1, True]).to_pylist() == ["1", "true"]
    assert natural_array([None]).type == pa.null()


def test_a_format_can_fix_the_type_of_an_attribute_that_a_batch_has_no_value_of() -> None:
    rows = EventBatches(ReadOptions(), types={"value": pa.float64()})
    rows.add("A", 0, {"value": None, "other": None})
    batch = rows.take()
    assert (batch.column("value").type, batch.column("other").type) == (pa.float64(), pa.null())


def test_half_a_surrogate_pair_is_kept_as_bytes_that_are_no_text() -> None:
    array = natural_array(["a\ud800b", None, "ü"])
    assert array.view(pa.binary()).to_pylist() == [b"a\xed\xa0\x80b", None, "ü".encode()]


def test_an_event_with_an_end_brings_the_columns_of_ends() -> None:
    rows = EventBatches(ReadOptions())
    rows.add("Task", 1, {}, end=End(9, zone_seconds=3600, after=2))
    rows.add("Boot", 2, {})
    batch = rows.take()
    micros = batch.column("end_time").cast(pa.int64()).to_pylist()
    assert micros == [9, None]
    assert batch.column("end_zone_seconds").to_pylist() == [3600, None]
    assert (batch.column("end_before").to_pylist(), batch.column("end_after").to_pylist()) == (
        [0, None],
        [2, None],
    )


def test_without_ends_there_are_no_such_columns() -> None:
    rows = EventBatches(ReadOptions())
    rows.add("Boot", 2, {"end_time": "an attribute"})
    batch = rows.take()
    assert "end_time" not in batch.schema.names
    assert batch.column("attr:end_time").to_pylist() == ["an attribute"]
