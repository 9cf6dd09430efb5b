"""Damaged plain event files: whatever comes in, only documented errors come out, and reading ends."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.errors import CepctlError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.tabular.files import FORMATS
from tests.mutations import mutated

BY_NAME = {known.name: known.reader for known in FORMATS}
CSV = (
    "event_id,event_type,lower,upper,pmf,time,end_time,note\n"
    'e1,A,1,5,1:3:0.5|4:5:0.5,,,"two\nlines"\n'
    "e2,B,,,,2015-10-25 02:30:00,2015-10-25T04:00:00+0100,x\n"
    'e3,"C ""quoted""",2024-01-01T00:00:00Z,2024-01-02,,?,,\n'
    "e4,,9,1,,24:00,,\xfc\n"
)
JSON = (
    '{"event_type":"A","lower":1,"upper":5,"pmf":"1:5:1","deep":{"a":[1,2.5,null]},"big":9223372036854775808}\n'
    '{"event_type":"B","time":"2015-10-25T02:30:00.123456789","x":1e400,"x":true,"\\ud800":"\\udc00"}\n'
    '{"event_type":7,"time":12,"x":"text","number":3}\n\n[1]\n'
)


def parquet() -> bytes:
    table = pa.table(
        {
            "event_type": ["A", "B", None],
            "time": pa.array([0, 10**15, None], pa.timestamp("us")),
            "pmf": pa.array([[{"lo": 1, "hi": 2, "p": 1.0}], None, []]),
            "x": pa.array([{"a": 1}, None, {"a": 2}]),
        }
    )
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


FILES: dict[str, bytes] = {
    "csv": CSV.encode(),
    "tsv": CSV.replace(",", "\t").encode("utf-16"),
    "jsonl": JSON.encode(),
    "parquet": parquet(),
}


def read(name: str, data: bytes) -> None:
    """Read to the end; documented errors are an answer, and every reject must have one, too."""
    report = ReadReport()
    options = ReadOptions(time_zone="Europe/Berlin")
    try:
        BY_NAME[name].recognises(data[: 1 << 16])
        events = sum(batch.num_rows for batch in BY_NAME[name].read(io.BytesIO(data), "f", options, report))
    except CepctlError as problem:
        assert str(problem).startswith("f")
        return
    assert events + len(report.rejects) == report.records
    assert all(reject.cause for reject in report.rejects)


@pytest.mark.parametrize("name", FILES)
def test_the_files_to_be_damaged_are_read(name: str) -> None:
    report = ReadReport()
    batches = BY_NAME[name].read(io.BytesIO(FILES[name]), "f", ReadOptions(), report)
    assert sum(batch.num_rows for batch in batches) >= 2


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl"])
@settings(deadline=None)
@given(data=st.data())
def test_a_damaged_text_gives_events_rejects_or_a_documented_error(name: str, data: st.DataObject) -> None:
    read(name, data.draw(mutated(FILES[name])))


@settings(deadline=None)
@given(mutated(FILES["parquet"]))
def test_a_damaged_parquet_file_gives_events_or_a_documented_error(data: bytes) -> None:
    read("parquet", data)


@pytest.mark.parametrize("name", FILES)
@given(data=st.binary(max_size=300))
def test_any_bytes_give_rejects_or_a_documented_error(name: str, data: bytes) -> None:
    read(name, data)


def test_half_a_surrogate_in_a_histogram_costs_its_own_row() -> None:
    line = b'{"event_type":"A","lower":1,"upper":5,"pmf":"1:5:1"}\n'
    report = ReadReport()
    data = line + line.replace(b"1:5:1", b"1\xed\xa0\x80:5:1") + line
    batches = BY_NAME["jsonl"].read(io.BytesIO(data), "f", ReadOptions(), report)
    assert (sum(batch.num_rows for batch in batches), [reject.line for reject in report.rejects]) == (2, [2])
