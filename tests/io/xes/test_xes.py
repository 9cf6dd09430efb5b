"""XES logs become events, one per event element, with every attribute and with every defect named."""

from __future__ import annotations

import gzip
import io
import os
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pytest

from cepctl.errors import LogFormatError, UsageError
from cepctl.io.contract.reader import FOLD, GRAIN, RAW_COLUMNS, TWICE, ReadOptions, ReadReport
from cepctl.io.source.xml_mending import LOST
from cepctl.io.xes.log import XesLog

READER = XesLog()
A = (
    '<event><string key="concept:name" value="A"/>'
    '<date key="time:timestamp" value="1970-01-01T00:00:01Z"/></event>'
)
LIST = '[{"x":"1"},{"x":"2"}]'
B = A.replace('"A"', '"B"').replace("00:01Z", "00:02Z")


def log(*traces: str, case: str = "c1", namespace: str = "") -> str:
    name = f'<string key="concept:name" value="{case}"/>'
    inside = "\n".join(f"<trace>{name}\n{trace}\n</trace>" for trace in traces)
    attribute = f' xmlns="{namespace}"' if namespace else ""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<log xes.version="1.0"{attribute}>\n{inside}\n</log>\n'


def event(*attributes: str) -> str:
    return A.replace("</event>", "".join(attributes) + "</event>")


def read(
    text: str | bytes, options: ReadOptions | None = None, report: ReadReport | None = None
) -> list[dict[str, Any]]:
    content = text if isinstance(text, bytes) else text.encode()
    batches = READER.read(io.BytesIO(content), "a.xes", options or ReadOptions(), report or ReadReport())
    return [row for batch in batches for row in with_epoch_seconds(batch)]


def with_epoch_seconds(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    micros = batch.column("time").cast(pa.int64()).to_pylist()
    for row, time in zip(batch.to_pylist(), micros, strict=True):
        yield row | {"time": None if time is None else time / 1_000_000}


def test_an_event_is_typed_by_its_activity_and_belongs_to_its_trace() -> None:
    rows = read(log(A + B, A))
    assert [(row["number"], row["event_type"], row["case_id"], row["time"]) for row in rows] == [
        (1, "A", "c1", 1.0),
        (2, "B", "c1", 2.0),
        (3, "A", "c1", 1.0),
    ]


@pytest.mark.parametrize("namespace", ["", "http://www.xes-standard.org/", "http://code.deckfour.org/xes"])
def test_elements_are_found_in_any_namespace(namespace: str) -> None:
    assert [row["event_type"] for row in read(log(A, namespace=namespace))] == ["A"]


def test_a_prefixed_namespace_is_one_too() -> None:
    text = (
        '<x:log xmlns:x="http://www.xes-standard.org/"><x:trace><x:event>'
        '<x:string key="concept:name" value="A"/><x:date key="time:timestamp" value="2020-01-01"/>'
        "</x:event></x:trace></x:log>"
    )
    assert READER.recognises(text.encode())
    assert [row["event_type"] for row in read(text)] == ["A"]


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ('<string key="k" value="5"/>', "5"),
        ('<id key="k" value="u-1"/>', "u-1"),
        ('<date key="k" value="2011-01-01T00:00:00+01:00"/>', "2011-01-01T00:00:00+01:00"),
        ('<int key="k" value="5"/>', 5),
        ('<int key="k" value="9223372036854775808"/>', "9223372036854775808"),
        ('<int key="k" value="five"/>', "five"),
        ('<float key="k" value="2.50"/>', 2.5),
        ('<boolean key="k" value="True"/>', True),
        ('<boolean key="k" value="maybe"/>', "maybe"),
        ('<string key="k"/>', None),
        ('<list key="k"><values><id key="x" value="1"/><id key="x" value="2"/></values></list>', LIST),
        ('<container key="k"><int key="x" value="1"/><id key="y" value="é"/></container>', '{"x":1,"y":"é"}'),
        ('<string key="k" value="a"/><string key="k" value="b"/>', '["a","b"]'),
    ],
)
def test_attributes_keep_their_types(attribute: str, value: object) -> None:
    (row,) = read(log(event(attribute)))
    assert row["k"] == value
    assert type(row["k"]) is type(value)


def test_what_is_nested_below_an_attribute_is_kept_beside_its_value() -> None:
    (row,) = read(
        log(event('<float key="k" value="2.5"><int key="m" value="1"><id key="n" value="z"/></int></float>'))
    )
    assert (row["k"], row["k:nested"]) == (2.5, '{"m":{"value":1,"nested":{"n":"z"}}}')


def test_what_made_type_time_and_case_is_kept_as_attributes_too() -> None:
    (row,) = read(log(A))
    assert row["concept:name"] == "A"
    assert row["time:timestamp"] == "1970-01-01T00:00:01Z"
    assert row["case:concept:name"] == "c1"


def test_trace_attributes_are_prefixed_and_reach_every_event_even_from_behind() -> None:
    first, second = read(log(f'<int key="amount" value="7"/>{A}{B}<string key="late" value="x"/>'))
    for row in (first, second):
        assert (row["case:amount"], row["case:late"]) == (7, "x")
    assert (
        "case:source" not in read(log(A).replace("<trace>", '<string key="source" value="s"/><trace>', 1))[0]
    )


def test_globals_are_defaults_for_editors_and_no_events() -> None:
    scope = '<global scope="event"><string key="concept:name" value="name"/></global>'
    assert len(read(log(A).replace("<trace>", scope + "<trace>", 1))) == 1


def test_an_attribute_named_like_a_column_is_prefixed() -> None:
    (row,) = read(log(event('<string key="source" value="s"/>')))
    assert row["attr:source"] == "s"
    own = '<string key="case_id" value="mine"/><string key="case:concept:name" value="too"/>'
    (row,) = read(log(event(own)))
    assert (row["case_id"], row["attr:case_id"]) == ("c1", "mine")
    assert (row["case:concept:name"], row["attr:case:concept:name"]) == ("c1", "too")


def test_a_trace_without_a_name_is_named_by_its_place() -> None:
    report = ReadReport()
    nameless = log(A, B).replace('<trace><string key="concept:name" value="c1"/>', "<trace>")
    assert [row["case_id"] for row in read(nameless, report=report)] == ["trace 1", "trace 2"]
    assert report.warnings == [
        "traces without concept:name, their case_id made from their place in the file: 2"
    ]


def test_a_numeric_case_name_makes_a_text_case_id() -> None:
    (row,) = read(
        log(A).replace('<string key="concept:name" value="c1"/>', '<int key="concept:name" value="7"/>')
    )
    assert (row["case_id"], row["case:concept:name"]) == ("7", 7)


def test_events_outside_of_traces_have_no_case() -> None:
    rows = read(log(A).replace("</log>", f"{B}{B}</log>"))
    assert [(row["event_type"], row["case_id"]) for row in rows] == [("A", "c1"), ("B", None), ("B", None)]


def test_an_event_without_activity_is_rejected_with_its_line() -> None:
    report = ReadReport()
    rows = read(log(f'{A}\n<event><string key="x" value="y"/></event>\n{B}'), report=report)
    assert [row["event_type"] for row in rows] == ["A", "B"]
    (reject,) = report.rejects
    assert (reject.line, reject.cause) == (5, "event without concept:name")
    assert 'value="y"' in reject.text
    assert report.records == 3


@pytest.mark.parametrize("time", ["?", "", "yesterday", "2011-02-30T00:00:00Z"])
def test_an_event_without_usable_time_is_rejected_with_its_line(time: str) -> None:
    report = ReadReport()
    rows = read(log(A.replace("1970-01-01T00:00:01Z", time), B), report=report)
    assert [(row["event_type"], row["number"]) for row in rows] == [("B", 2)]
    (reject,) = report.rejects
    assert (reject.line, reject.cause) == (4, "no time")
    assert f'value="{time}"' in reject.text


def test_a_missing_timestamp_is_no_time() -> None:
    report = ReadReport()
    assert read(log('<event><string key="concept:name" value="A"/></event>'), report=report) == []
    assert [reject.cause for reject in report.rejects] == ["no time"]


def test_a_date_typed_as_string_with_slashes_is_read_and_its_offset_kept() -> None:
    text = A.replace(
        'date key="time:timestamp" value="1970-01-01T00:00:01Z"', 'string key="time:timestamp" value="@"'
    )
    (row,) = read(log(text.replace("@", "1970/01/01 02:00:00.5 +0200")))
    assert (row["time"], row["zone_seconds"], row["after"]) == (0.5, 7200, 0)


def test_a_time_without_zone_is_read_in_the_users_zone() -> None:
    text = log(A.replace("1970-01-01T00:00:01Z", "2015-10-25 02:30:00"))
    report = ReadReport()
    (row,) = read(text, ReadOptions(time_zone="Europe/Berlin"), report)
    assert (row["zone_seconds"], row["before"], row["after"], row[FOLD]) == (7200, 0, 0, 3_600_000_000)
    assert report.warnings == [TWICE.format(1)]
    report = ReadReport()
    assert read(text, report=report)[0]["zone_seconds"] == 0
    assert report.warnings == ["times without a zone, read as UTC: 1; name their zone with --tz"]


def test_an_unknown_zone_of_the_user_is_named() -> None:
    with pytest.raises(UsageError, match="Mars"):
        read(log(A), ReadOptions(time_zone="Mars/Olympus"))


def test_a_truncated_file_keeps_the_events_before_the_cut() -> None:
    report = ReadReport()
    whole = log(A, A + B + A)
    rows = read(whole[: whole.rindex('"time:timestamp"')], report=report)
    assert [row["event_type"] for row in rows] == ["A", "A", "B"]
    assert [row["case_id"] for row in rows] == ["c1"] * 3
    (reject,) = report.rejects
    assert (reject.source, reject.line, reject.cause) == ("a.xes", 7, LOST)


def test_a_truncated_gzip_keeps_the_events_before_the_cut() -> None:
    report = ReadReport()
    seconds = [f"{i * 7919 % 86_400:05d}" for i in range(5000)]
    whole = gzip.compress(log(*(A.replace("01Z", "01." + second + "Z") for second in seconds)).encode())
    stream = cast(IO[bytes], gzip.GzipFile(fileobj=io.BytesIO(whole[: len(whole) // 2])))
    rows = sum(batch.num_rows for batch in READER.read(stream, "a.xes.gz", ReadOptions(), report))
    assert 1000 < rows < 4500
    assert [reject.cause for reject in report.rejects] == [LOST, "truncated input"]


def test_bad_utf8_costs_one_reject_with_its_line_and_no_event() -> None:
    report = ReadReport()
    odd = event('<string key="k" value="@"/>')
    content = log(f"{A}\n{odd}\n{B}").encode().replace(b'"@"', b'"\xff\xfe"')
    assert [row["event_type"] for row in read(content, report=report)] == ["A", "A", "B"]
    assert [reject.line for reject in report.rejects] == [5]


def test_a_bare_ampersand_is_survived_and_reported() -> None:
    report = ReadReport()
    rows = read(log(event('<string key="k" value="a & b"/>')), report=report)
    assert rows[0]["k"] == "a & b"
    assert [reject.line for reject in report.rejects] == [4]


def test_utf16_a_byte_order_mark_and_leading_blank_lines_do_no_harm() -> None:
    utf16 = log(A).replace("UTF-8", "UTF-16").encode("utf-16")
    for content in (utf16, b"\xef\xbb\xbf" + log(A).encode(), b"\n \n" + log(A).encode()):
        report = ReadReport()
        assert READER.recognises(content)
        assert len(read(content, report=report)) == 1
        assert report.rejects == []


@pytest.mark.parametrize("declaration", ['<!ENTITY a "b">', '<!ENTITY x SYSTEM "file:///etc/passwd">'])
@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16"])
def test_declared_entities_are_refused(declaration: str, encoding: str) -> None:
    text = log(event('<string key="k" value="&a;"/>')).replace(
        "<log", f"<!-- <log > --><!DOCTYPE log [{declaration}]><log"
    )
    with pytest.raises(LogFormatError, match=r"a\.xes: .*entities"):
        read(text.replace("UTF-8", encoding).encode(encoding))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<pnml><net/></pnml>", "root element is <pnml>"),
        ("no xml at all", "no root element"),
        ("<a>" + "x" * 2_000_000 + "</a>", "no <log> element within the first MiB"),
    ],
)
def test_another_kind_of_file_is_refused(text: str, message: str) -> None:
    assert not READER.recognises(text.encode())
    with pytest.raises(LogFormatError, match=message):
        read(text)


def test_an_empty_file_and_an_empty_log_have_no_events() -> None:
    report = ReadReport()
    assert read("", report=report) == read("<log/>", report=report) == []
    assert report.rejects == []


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc to ask for the memory in use")
def test_memory_does_not_grow_with_the_file() -> None:
    # The tree of this log takes more than 100 MB; its events are handed over batch by batch.
    content = io.BytesIO(log(*[A * 20] * 3000).encode())
    assert len(read(log(A))) == 1  # what the first log ever read loads is not the file's
    before = resident_megabytes()
    rows = sum(batch.num_rows for batch in READER.read(content, "big.xes", ReadOptions(), ReadReport()))
    assert rows == 60_000
    assert resident_megabytes() - before < 70


LARGE = "bpic2012.xes.gz"
REAL_EVENTS = {
    "running-example.xes": 42,
    "roadtraffic100traces.xes": 390,
    "bpic2012.xes.gz": 262_200,
    "04_reviewing.xes.gz": 3730,
    "11_tickets.xes.gz": 43,
    "19_roadtraffic_1t_per_variant.xes.gz": 1891,
    "interval_event_log.xes": 8109,
    "partial order example.xes": 25,
    "siesta_test.xes": 10,
}
TIMELESS = {"19_roadtraffic_1t_per_variant.xes.gz", "partial order example.xes"}


def real_logs() -> list[Path]:
    root = os.environ.get("CEPCTL_REALDATA")
    return sorted(path for path in Path(root, "xes").iterdir() if ".xes" in path.name) if root else []


def independent_count(content: bytes) -> tuple[int, int]:
    """Events, and attributes directly below them, counted by another parser."""
    events = attributes = 0
    for _, element in ET.iterparse(io.BytesIO(content)):
        name = element.tag.rpartition("}")[2]
        if name == "event":
            events += 1
            attributes += len({child.get("key") for child in element})
        if name in ("event", "trace"):
            element.clear()
    return events, attributes


@pytest.mark.realdata
@pytest.mark.skipif(not real_logs(), reason="CEPCTL_REALDATA names no XES logs")
@pytest.mark.parametrize(
    "path",
    # Every day a directory is read that holds the large one, and its events are counted.
    [
        pytest.param(path, id=path.name, marks=pytest.mark.slow if path.name == LARGE else [])
        for path in real_logs()
    ],
)
def test_real_logs_are_read_completely(path: Path) -> None:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    report = ReadReport()
    batches = list(READER.read(io.BytesIO(content), path.name, ReadOptions(), report))
    events, attributes = independent_count(content)
    assert report.records == events == REAL_EVENTS[path.name]
    timeless = events if path.name in TIMELESS else 0
    assert sum(batch.num_rows for batch in batches) == events - timeless
    assert [reject.cause for reject in report.rejects] == ["no time"] * timeless
    own = [
        batch.column(name)
        for batch in batches
        for name in batch.schema.names
        if name not in (*RAW_COLUMNS, GRAIN, "case_id")
        and not name.startswith("case:")
        and not name.endswith(":nested")
    ]
    if not timeless:
        assert sum(len(column) - column.null_count for column in own) == attributes
    assert all(batch.column("case_id").null_count == 0 for batch in batches)
