"""Damaged XES logs: whatever comes in, only documented errors come out, and reading ends."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.errors import CepctlError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.xes.log import XesLog
from tests.mutations import mutated
from tests.xes_documents import LOG

UTF16 = LOG.decode().replace("UTF-8", "UTF-16").encode("utf-16")


def read(data: bytes) -> None:
    report = ReadReport()
    options = ReadOptions(time_zone="Europe/Berlin", intervals=True)
    XesLog().recognises(data[: 1 << 16])
    try:
        batches = list(XesLog().read(io.BytesIO(data), "f", options, report))
    except CepctlError as problem:
        assert str(problem).startswith("f")
        return
    rows = [row for batch in batches for row in batch.to_pylist()]
    joined = sum(row.get("end_time") is not None and row.get("start_timestamp") is None for row in rows)
    assert len(rows) + joined + sum(reject.records for reject in report.rejects) == report.records


def test_the_log_to_be_damaged_is_read() -> None:
    report = ReadReport()
    batches = XesLog().read(io.BytesIO(LOG), "f", ReadOptions(intervals=True), report)
    assert (sum(batch.num_rows for batch in batches), report.records, report.rejects) == (4, 6, [])


@pytest.mark.parametrize("log", [LOG, UTF16], ids=["utf-8", "utf-16"])
@settings(deadline=None)
@given(data=st.data())
def test_a_damaged_log_gives_events_rejects_or_a_documented_error(log: bytes, data: st.DataObject) -> None:
    read(data.draw(mutated(log)))


@given(st.binary(max_size=200).map(lambda data: b"<log>" + data) | st.binary(max_size=200))
def test_any_bytes_give_rejects_or_a_documented_error(data: bytes) -> None:
    read(data)


def test_elements_nested_without_end_are_survived() -> None:
    read(b"<log>" + b"<trace><event>" * 20_000)
    read(b'<log><trace><event><list key="x"><values>' + b'<list key="x">' * 20_000)
