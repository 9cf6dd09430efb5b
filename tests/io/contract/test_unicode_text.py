"""A text that is not Unicode costs its record, named, wherever in a log it stands, and never the run."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pyarrow as pa
import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.batches import EventBatches
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.contract.unicode_text import NOT_UNICODE, unicode_events
from tests.reader_account import account_of
from tests.small_logs import SMALL_LOGS

NO_TEXT = {
    "<": b"&#xD800;",
    "{": b"\\ud800",
    "[": b"\\ud800",
}
EVERYDAY_PLACES = 25
TEXTS = [name for name, (_, data) in SMALL_LOGS.items() if data.lstrip()[:1] in (b"<", b"{", b"[")]


def places_of(name: str, places: range | list[int]) -> list[int]:
    """Read the log with half a pair at each of these places; returns those at which nothing is said."""
    format_name, data = SMALL_LOGS[name]
    true = account_of(data, format_name)
    half = NO_TEXT[chr(data.lstrip()[0])]
    return [
        place
        for place in places
        for account in [account_of(data[:place] + half + data[place:], format_name)]
        if account.events < true.events and not account.refused and not account.said - true.said
    ]


@pytest.mark.parametrize("name", TEXTS)
def test_half_a_pair_kills_no_reader_and_costs_nothing_in_silence(name: str) -> None:
    size = len(SMALL_LOGS[name][1])
    assert places_of(name, Random(name).sample(range(size), EVERYDAY_PLACES)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_half_a_pair_anywhere_kills_no_reader(name: str) -> None:
    assert places_of(name, range(len(SMALL_LOGS[name][1]))) == []


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("jsonl", b'"event_type":"B'),
        ("jsonl", b'{"event_type":"B","no'),
        ("docker", b'{"log":"ready'),
        ("journal", b'"_HOSTNAME": "web'),
        ("spark", b'"App Name":"a'),
        ("jhist", b'"jobid": "job'),
        ("rumen", b'"attemptID": "at'),
        ("sls", b'"container.host": "'),
        ("otlp", b'"name":"ch'),
        ("jaeger", b'"operationName":"g'),
        ("zipkin", b'"serviceName":"'),
        ("ocel, JSON", b'"id": "e1'),
        ("ocel, JSON", b'"value": "19'),
    ],
)
def test_half_a_pair_in_ids_hosts_and_values_costs_a_record(name: str, member: bytes) -> None:
    format_name, data = SMALL_LOGS[name]
    if name == "jsonl" and member.endswith(b'"no'):
        data, member = data.replace(b'"C",', b'"C","note":1,'), b'"event_type":"C","no'
    assert member in data
    account = account_of(data.replace(member, member + b"\\ud83d", 1), format_name)
    assert account.refused is None
    assert account.said["rejects"] >= 1
    pair = account_of(data.replace(member, member + b"\\ud83d\\ude00", 1), format_name)
    assert (pair.refused, pair.said["rejects"]) == (None, 0)


def events(*texts: str) -> pa.RecordBatch:
    rows = EventBatches(ReadOptions())
    for text in texts:
        rows.add("A", 1, {"note": text})
    return rows.take()


def test_whatever_gets_past_a_reader_is_held_back() -> None:
    report = ReadReport()
    (batch,) = unicode_events([events("a", "b\ud800", "\U0001f600")], "f", report)
    assert batch.column("note").to_pylist() == ["a", "\U0001f600"]
    assert [(each.source, each.cause, each.raw) for each in report.rejects] == [
        ("f", NOT_UNICODE, "record 2, column note")
    ]


def test_text_that_belongs_to_no_record_refuses_the_file() -> None:
    def names() -> Iterator[pa.RecordBatch]:
        yield events("a")
        "\ud800".encode()

    with pytest.raises(LogFormatError, match="f: it holds text that is not Unicode"):
        list(unicode_events(names(), "f", ReadReport()))
