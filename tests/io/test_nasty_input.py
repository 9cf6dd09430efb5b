"""The nasty inputs that every reader survives, item by item, each through the ingest as a user runs it.

The table FORMATS has one small true file of each format that is text, with three events of which the last
is written last; what is done to it is the same for all.
"""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.errors import CepctlError, LogFormatError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.attribute_limit import MOST_ATTRIBUTES
from cepctl.io.contract.reader import ReadOptions

TIMES = ("2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z", "2024-05-01T10:00:02Z")


def xes(*times: str, attributes: str = "") -> str:
    events = "".join(
        f'<event><string key="concept:name" value="A"/><date key="time:timestamp" value="{time}"/>'
        f"{attributes}</event>\n"
        for time in times
    )
    return f'<log><trace>\n<string key="concept:name" value="c1"/>\n{events}</trace></log>\n'


def csv(*times: str) -> str:
    return "event_type,time\n" + "".join(f"A,{time}\n" for time in times)


def jsonl(*times: str) -> str:
    return "".join(json.dumps({"event_type": "A", "time": time}) + "\n" for time in times)


def jhist(*times: str) -> str:
    schema = '{"type":"record","name":"Event","fields":[]}'
    lines = "".join(
        '{"type":"JOB_SUBMITTED","event":{"org.apache.hadoop.mapreduce.jobhistory.JobSubmitted":'
        f'{{"jobid":"job_1_{number:04}","submitTime":{1_714_557_600_000 + number}}}}}}}\n'
        for number, _ in enumerate(times)
    )
    return f"Avro-Json\n{schema}\n{lines}"


def ganglia(*times: str) -> str:
    metrics = "".join(
        f'<METRIC NAME="m{number}" VAL="1" TYPE="float" UNITS="" TN="1" TMAX="60" DMAX="0" SLOPE="both"/>\n'
        for number, _ in enumerate(times)
    )
    return (
        '<GANGLIA_XML VERSION="3" SOURCE="gmond"><CLUSTER NAME="c" LOCALTIME="1714557600">\n'
        f'<HOST NAME="n1" IP="1.1.1.1" REPORTED="1714557600" TN="1" TMAX="20" DMAX="0">\n{metrics}</HOST>\n'
        "</CLUSTER></GANGLIA_XML>\n"
    )


def log4j(*times: str) -> str:
    return "".join(
        f"{time[:10]} {time[11:19]},000 INFO [main] org.apache.hadoop.Something: hello\n" for time in times
    )


FORMATS: dict[str, Callable[..., str]] = {
    "csv": csv,
    "tsv": lambda *times: csv(*times).replace(",", "\t"),
    "jsonl": jsonl,
    "xes": xes,
    "jhist": jhist,
    "ganglia": ganglia,
    "log4j": log4j,
}
OPTIONS = IngestOptions(read=ReadOptions(keep_unmatched=True), max_errors=100)


@pytest.fixture(params=FORMATS)
def text(request: pytest.FixtureRequest) -> str:
    return FORMATS[request.param](*TIMES)


@pytest.fixture(params=["csv", "tsv", "jsonl", "xes"])
def timed(request: pytest.FixtureRequest) -> Callable[..., str]:
    """The formats whose times are text of any kind."""
    return FORMATS[request.param]


def run(
    content: str | bytes, folder: Path, options: IngestOptions = OPTIONS, name: str = "log"
) -> IngestSummary:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return ingest([str(folder / name)], str(folder / "events"), options)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [
        row
        for part in sorted((folder / "events").glob("*.parquet"))
        for row in pq.read_table(part).to_pylist()
    ]


def zstandard(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


# --- the file as a whole ------------------------------------------------------------------


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, zstandard])
@pytest.mark.parametrize("name", ["log", "log.txt", "log.zip"])
def test_compression_is_told_from_the_content_whatever_the_name(
    compress: Callable[[bytes], bytes], name: str, text: str, tmp_path: Path
) -> None:
    assert run(compress(text.encode()), tmp_path, name=name).events == 3


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, zstandard])
def test_several_compressed_members_are_one_file(
    compress: Callable[[bytes], bytes], text: str, tmp_path: Path
) -> None:
    half = len(text) // 2
    assert run(compress(text[:half].encode()) + compress(text[half:].encode()), tmp_path).events == 3


def test_what_comes_before_the_cut_of_a_truncated_gzip_is_kept(text: str, tmp_path: Path) -> None:
    summary = run(gzip.compress(text.encode())[:-12], tmp_path)
    assert 2 <= summary.events <= 3
    assert any("damaged" in cause or "truncated" in cause for cause in summary.rejected)


def test_a_last_record_that_is_cut_in_half_is_dropped_and_counted(text: str, tmp_path: Path) -> None:
    kept = text.rstrip("\n").removesuffix("</trace></log>").removesuffix("</CLUSTER></GANGLIA_XML>")
    kept = kept.rstrip("\n").removesuffix("</HOST>").rstrip("\n")
    summary = run(kept[:-8], tmp_path)
    if text.startswith("2024"):  # a log line that is shorter is a log line, if its beginning is there
        assert summary.events in (2, 3)
        return
    assert summary.events in (2, 3)
    assert summary.events + summary.rejected.total() >= 3


def test_an_empty_file_has_no_events_and_says_so(tmp_path: Path) -> None:
    summary = run(b"", tmp_path)
    assert summary.events == 0
    assert summary.notices == (
        "log: the file is empty",
        "the input has no records: the dataset has no events",
    )


def test_blank_lines_or_a_byte_order_mark_do_no_harm(text: str, tmp_path: Path) -> None:
    assert run(b"\xef\xbb\xbf" + text.encode(), tmp_path).events == 3


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "xes"])
def test_utf16_with_its_byte_order_mark_is_read(name: str, tmp_path: Path) -> None:
    assert run(FORMATS[name](*TIMES).encode("utf-16"), tmp_path).events == 3


@pytest.mark.parametrize(("name", "left"), [("csv", 3), ("tsv", 3), ("jsonl", 2), ("xes", 3), ("log4j", 3)])
def test_bad_utf8_costs_one_record_at_most(name: str, left: int, tmp_path: Path) -> None:
    # In the second event; CSV and log lines are read with a sign in its place.
    broken = FORMATS[name](*TIMES).encode().replace(b"10:00:01", b"10:00:01", 1)
    place = broken.index(b"10:00:01")
    start = (
        broken.rfind(b"A" if name != "log4j" else b"INFO", 0, place)
        if name != "log4j"
        else broken.index(b"hello", place)
    )
    summary = run(broken[:start] + b"\xff" + broken[start:], tmp_path)
    assert summary.events == left


@pytest.mark.parametrize("declaration", ['<!ENTITY a "b">', '<!ENTITY x SYSTEM "file:///etc/passwd">'])
@pytest.mark.parametrize("name", ["xes", "ganglia"])
def test_declared_entities_are_refused_unread(name: str, declaration: str, tmp_path: Path) -> None:
    root = "log" if name == "xes" else "GANGLIA_XML"
    text = f"<?xml version='1.0'?><!DOCTYPE {root} [{declaration}]>" + FORMATS[name](*TIMES)
    with pytest.raises(LogFormatError, match="entities"):
        run(text, tmp_path)


@pytest.mark.parametrize("name", ["xes", "ganglia"])
def test_a_bare_ampersand_costs_no_event(name: str, tmp_path: Path) -> None:
    text = FORMATS[name](*TIMES).replace('"c1"', '"c & 1"').replace('NAME="c"', 'NAME="c & d"')
    summary = run(text, tmp_path)
    assert summary.events == 3
    assert summary.rejected.total() + len(summary.notices) >= 1


# --- times --------------------------------------------------------------------------------


@pytest.mark.parametrize("time", ["", "?", "-", "never", "2024-13-01T00:00:00Z", "2024-05-01T25:00:00Z"])
def test_a_record_without_usable_time_is_a_reject_and_never_a_guess(
    time: str, timed: Callable[..., str], tmp_path: Path
) -> None:
    summary = run(timed(TIMES[0], time, TIMES[2]), tmp_path)
    assert (summary.events, summary.rejected) == (2, {"no time": 1})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2024-05-01 24:00", "2024-05-02T00:00:00+00:00"),
        ("2024-05-01T24:00:00Z", "2024-05-02T00:00:00+00:00"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00+00:00"),
        ("2024-05-01T10:00:00.123456789Z", "2024-05-01T10:00:00.123456789+00:00"),
        ("2024-05-01T10:00:00+0200", "2024-05-01T08:00:00+00:00"),
        ("2024/05/01 10:00:00", "2024-05-01T10:00:00+00:00"),
        ("1948-01-01T00:00:00Z", "1948-01-01T00:00:00+00:00"),
    ],
)
def test_unusual_times_are_read(written: str, meant: str, timed: Callable[..., str], tmp_path: Path) -> None:
    run(timed(written), tmp_path)
    assert [row["time"].isoformat() for row in rows(tmp_path)] == [meant]


@pytest.mark.parametrize("time", ["-1", "0"])
def test_minus_one_and_zero_are_no_times_of_a_job_history(time: str, tmp_path: Path) -> None:
    summary = run(jhist(*TIMES).replace("1714557600001", time), tmp_path)
    assert summary.events == 2
    assert summary.rejected.total() + summary.skipped.total() == 1


def test_the_order_of_a_file_need_not_be_that_of_time(timed: Callable[..., str], tmp_path: Path) -> None:
    run(timed(TIMES[2], TIMES[0], TIMES[1]), tmp_path)
    found = rows(tmp_path)
    assert [row["lower"] for row in found] == sorted(row["lower"] for row in found)
    assert [row["event_id"] for row in found] == ["log#2", "log#3", "log#1"]


# --- records ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_an_id_that_occurs_again_is_a_reject(name: str, tmp_path: Path) -> None:
    lines = {
        "csv": "event_type,event_id,time\nA,x,1\nB,x,2\nC,y,3\n",
        "jsonl": "".join(f'{{"event_type":"A","event_id":"{i}","time":{n}}}\n' for n, i in enumerate("xxy")),
    }
    summary = run(lines[name], tmp_path)
    assert (summary.events, summary.rejected) == (2, {"duplicate event_id": 1})


def test_a_finish_without_a_start_is_an_event_all_the_same(tmp_path: Path) -> None:
    event = "org.apache.hadoop.mapreduce.jobhistory.TaskFinished"
    line = {
        "type": "TASK_FINISHED",
        "event": {event: {"taskid": "task_1_0001_m_000000", "finishTime": 5_000}},
    }
    summary = run(
        jhist() + json.dumps(line) + "\n", tmp_path, IngestOptions(read=ReadOptions(intervals=True))
    )
    assert summary.type_counts["TaskFinish"] == 1
    complete = '<string key="lifecycle:transition" value="complete"/>'
    summary = run(
        xes(TIMES[0], attributes=complete),
        tmp_path,
        IngestOptions(read=ReadOptions(intervals=True), overwrite=True),
    )
    assert summary.events == 1


MIXED = [5, "five", 2.5, True, None, [1, {"deep": 2}], 2**70]


def mixed_csv() -> str:
    cells = ["5", "five", "2.5", "true", "", '"[1,{""deep"":2}]"', str(2**70)]
    return "event_type,time,x\n" + "".join(f"A,{n},{cell}\n" for n, cell in enumerate(cells))


def mixed_jsonl() -> str:
    lines = [{"event_type": "A", "time": number, "x": value} for number, value in enumerate(MIXED)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def mixed_xes() -> str:
    kinds = [("int", "5"), ("string", "five"), ("float", "2.5"), ("boolean", "true"), ("int", str(2**70))]
    events = "".join(
        f'<event><string key="concept:name" value="A"/><date key="time:timestamp" value="{TIMES[0]}"/>'
        f'<{kind} key="x" value="{value}"/></event>'
        for kind, value in kinds
    )
    return f'<log><trace><string key="concept:name" value="c"/>{events}</trace></log>'


@pytest.mark.parametrize("text", [mixed_csv(), mixed_jsonl(), mixed_xes()], ids=["csv", "jsonl", "xes"])
def test_a_column_of_several_types_is_text_that_loses_nothing_and_is_said(text: str, tmp_path: Path) -> None:
    summary = run(text, tmp_path)
    values = {row["x"] for row in rows(tmp_path)}
    assert {"5", "five", "2.5", "true", str(2**70)} <= values
    nested = [json.loads(value) for value in values if value and value.startswith("[")]
    assert nested in ([], [[1, {"deep": 2}]])
    assert any(notice.startswith("attribute 'x' holds ") for notice in summary.notices)


# --- as many names as records ----------------------------------------------------------------


def crowd_jsonl(count: int) -> str:
    return "".join(f'{{"event_type":"A","time":{n},"k{n}":{n}}}\n' for n in range(count))


def crowd_xes(count: int) -> str:
    return (
        xes().replace("</trace>", "").replace("</log>", "")
        + "".join(
            f'<event><string key="concept:name" value="A"/><date key="time:timestamp" value="{TIMES[0]}"/>'
            f'<int key="k{n}" value="{n}"/></event>\n'
            for n in range(count)
        )
        + "</trace></log>"
    )


def crowd_csv(count: int) -> str:
    names = ",".join(f"k{n}" for n in range(count))
    values = ",".join(map(str, range(count)))
    return f"event_type,time,{names}\nA,1,{values}\n"


@pytest.mark.parametrize("crowd", [crowd_jsonl, crowd_xes, crowd_csv])
def test_attributes_beyond_the_limit_are_json_in_one_column_and_that_is_said(
    crowd: Callable[[int], str], tmp_path: Path
) -> None:
    count = MOST_ATTRIBUTES + 500
    summary = run(crowd(count), tmp_path)
    columns = pq.read_schema(tmp_path / "events" / "part-00000.parquet").names
    assert abs(len(columns) - MOST_ATTRIBUTES) < 30
    table = pq.read_table(tmp_path / "events" / "part-00000.parquet")
    named = [name for name in columns if name.startswith("k")]
    found = {name: table.column(name).drop_null().to_pylist() for name in named}
    found = {name: values[0] for name, values in found.items() if values}
    for other in table.column("other").drop_null().to_pylist():
        found |= {name: int(value) for name, value in json.loads(other).items()}
    assert found == {f"k{n}": n for n in range(count)}
    assert any("column 'other', as JSON" in notice for notice in summary.notices)


# --- many bad records -------------------------------------------------------------------------


def test_rejects_are_counted_but_not_held(tmp_path: Path) -> None:
    summary = run(csv(*["?"] * 50_000, "1"), tmp_path, IngestOptions(max_errors=100_000))
    assert summary.rejected == {"no time": 50_000}
    assert len(summary.rejects) <= 5


def test_reading_stops_once_there_are_certainly_too_many(tmp_path: Path) -> None:
    with pytest.raises(CepctlError, match="more than the 3 bad records allowed; reading stopped"):
        run(csv(*["?"] * 50_000), tmp_path, IngestOptions(max_errors=3))


def test_all_rejects_are_written_with_their_bytes(tmp_path: Path) -> None:
    content = b'event_type,time,x\nA,?,m\xfcller\nA,?,"two\nlines"\nA\nA,1,fine\n'
    run(content, tmp_path, IngestOptions(max_errors=9, rejects=str(tmp_path / "rejects.jsonl")))
    written = [json.loads(line) for line in (tmp_path / "rejects.jsonl").read_text().splitlines()]
    assert [(entry["line"], entry.get("raw"), entry.get("raw_base64")) for entry in written] == [
        (2, None, "QSw/LG38bGxlcg=="),
        (3, 'A,?,"two\nlines"', None),
        (5, "A", None),
    ]
