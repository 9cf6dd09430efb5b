"""What rrdtool dumps becomes the same events as the databases themselves."""

from __future__ import annotations

import gzip
import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import Reader, ReadOptions, ReadReport
from cepctl.io.formats import recognised_format
from cepctl.io.ganglia.gmond_xml import GangliaXml
from cepctl.io.ganglia.rrd_dump import RrdDump
from cepctl.io.ganglia.rrd_file import GangliaRrd
from cepctl.io.source.xml_mending import LOST
from cepctl.schema import TimeUnit
from tests.rrd_files import NAN, Ring, rrd_bytes

PATH = "rrds/web/n7/load_one.txt"
SECONDS = ReadOptions(time_unit=TimeUnit(1_000_000))


def read(
    reader: Reader,
    text: str | bytes,
    source: str = PATH,
    options: ReadOptions = SECONDS,
    report: ReadReport | None = None,
) -> list[dict[str, Any]]:
    data = text if isinstance(text, bytes) else text.encode()
    rows = []
    for batch in reader.read(io.BytesIO(data), source, options, report or ReadReport()):
        seconds = batch.column("time").cast(pa.int64()).to_pylist()
        rows += [
            row | {"time": micros // 1_000_000}
            for row, micros in zip(batch.to_pylist(), seconds, strict=True)
        ]
    return rows


def spans(rows: list[dict[str, Any]]) -> list[tuple[str, int, int, float]]:
    """Type, first and last second of the interval, and value; ticks are seconds."""
    return [
        (
            row["event_type"],
            row["time"] - row["before"] // 1_000_000,
            row["time"] + row["after"] // 1_000_000,
            row["value"],
        )
        for row in rows
    ]


# --- rrdtool dump ---------------------------------------------------------------------------


def dump(*archives: str, last: int = 1_000_005, names: tuple[str, ...] = ("sum",)) -> str:
    sources = "".join(f"<ds>\n<name> {name} </name>\n<type> GAUGE </type>\n</ds>\n" for name in names)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<!DOCTYPE rrd SYSTEM "http://oss.oetiker.ch/rrdtool/rrdtool.dtd">\n'
        "<!-- Round Robin Database Dump -->\n<rrd>\n<version>0003</version>\n"
        f"<step>15</step> <!-- Seconds -->\n<lastupdate>{last}</lastupdate> <!-- 1970-01-12 CET -->\n"
        f"{sources}{''.join(archives)}</rrd>\n"
    )


def archive(*rows: str, steps: int = 1, function: str = "AVERAGE") -> str:
    return (
        f"<rra>\n<cf> {function} </cf>\n<pdp_per_row>{steps}</pdp_per_row> <!-- 15 seconds -->\n"
        f"<cdp_prep><ds><value>NaN</value></ds></cdp_prep>\n<database>\n{''.join(rows)}</database>\n</rra>\n"
    )


def dumped(stamp: int | None, *values: object) -> str:
    comment = "" if stamp is None else f"<!-- 1970-01-12 14:46:30 CET / {stamp} --> "
    return f"{comment}<row>{''.join(f'<v> {value} </v>' for value in values)}</row>\n"


def test_a_dump_has_the_finest_known_values_of_its_archives() -> None:
    report = ReadReport()
    text = dump(
        archive(dumped(999_960, "1.0"), dumped(1_000_020, "2.0"), steps=4),
        archive(dumped(999_990, "NaN"), dumped(1_000_005, "3.5e+00"), dumped(1_000_020, "NaN")),
        archive(dumped(1_000_020, "9"), function="MAX"),
    )
    rows = read(RrdDump(), text, report=report)
    assert spans(rows) == [
        ("load_one", 999_991, 1_000_005, 3.5),
        ("load_one", 999_901, 999_960, 1.0),
        ("load_one", 999_961, 999_990, 2.0),
    ]
    assert {(row["node"], row["cluster"], row["resolution"]) for row in rows[:1]} == {("n7", "web", 15)}
    assert report.skipped == {"unknown value (NaN)": 2, "value of a MAX archive": 1}


def test_without_comments_rows_are_counted_back_from_the_last_update() -> None:
    text = dump(archive(dumped(None, 1), dumped(None, 2)), archive(dumped(None, 8), steps=40))
    assert [(row["time"], row["value"]) for row in read(RrdDump(), text)] == [
        (999_990, 1.0),
        (1_000_005, 2.0),
        (999_600, 8.0),
    ]


def test_a_summary_in_a_dump_has_its_number_of_hosts() -> None:
    text = dump(archive(dumped(1_000_005, 6, 3)), names=("sum", "num"))
    (row,) = read(RrdDump(), text, "rrds/web/__SummaryInfo__/load_one.xml")
    assert (row["event_type"], row["node"], row["value"], row["hosts"]) == (
        "summary:load_one",
        None,
        6.0,
        3.0,
    )


def test_a_bad_row_is_rejected_with_its_line_and_the_others_keep_their_times() -> None:
    report = ReadReport()
    text = dump(archive(dumped(None, 1), dumped(None, "?"), dumped(None, 3)))
    assert [(row["time"], row["value"]) for row in read(RrdDump(), text, report=report)] == [
        (999_975, 1.0),
        (1_000_005, 3.0),
    ]
    (reject,) = report.rejects
    assert (reject.cause, text.splitlines()[(reject.line or 0) - 1]) == (
        "a row does not have 1 numbers",
        "<row><v> ? </v></row>",
    )


def test_a_dump_cut_short_keeps_the_rows_that_tell_their_time() -> None:
    report = ReadReport()
    whole = dump(archive(dumped(999_990, 1), dumped(1_000_005, 2)))
    rows = read(RrdDump(), whole[: whole.index("1000005 -->")], report=report)
    assert [(row["time"], row["value"]) for row in rows] == [(999_990, 1.0)]
    assert [reject.cause for reject in report.rejects] == [LOST, "truncated dump"]
    bare = dump(archive(dumped(None, 1), dumped(None, 2)))
    report = ReadReport()
    assert read(RrdDump(), bare[: bare.index("</database>")], report=report) == []
    assert [reject.cause for reject in report.rejects] == ["no time", "truncated dump"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (dump(archive(dumped(None, 1))).replace("<step>15</step>", ""), "no usable <step>"),
        (dump(archive(dumped(None, 1))).replace("<step>15", "<step>99999999999999"), "no usable <step>"),
        (dump(archive(dumped(None, 1))).replace('.dtd">', '.dtd" [<!ENTITY a "b">]>'), "entities"),
        (dump(archive(dumped(None, 1)), "<ds><name> late </name></ds>"), "'late' is named after"),
        ("<html/>", "no <rrd> element"),
    ],
)
def test_a_dump_that_cannot_be_dated_or_trusted_is_refused(text: str, said: str) -> None:
    with pytest.raises(LogFormatError, match=rf"load_one\.txt: .*{said}"):
        read(RrdDump(), text)


# --- All of them ------------------------------------------------------------------------------

SAMPLES: list[tuple[Reader, bytes]] = [
    (GangliaRrd(), rrd_bytes([Ring([[1.0]])], last=1_000_005)),
    (RrdDump(), dump(archive(dumped(1_000_005, 1))).encode()),
]


@pytest.mark.parametrize(
    ("reader", "data"), SAMPLES, ids=lambda value: "" if isinstance(value, bytes) else type(value).__name__
)
def test_each_is_recognised_from_its_content(reader: Reader, data: bytes) -> None:
    assert type(recognised_format(data, "no.suffix").reader) is type(reader)


def test_other_formats_are_left_to_their_readers() -> None:
    readers = [reader for reader, _ in SAMPLES]
    others = [
        b"event_type,time\nA,1\n",
        b"Timestamp,event_type,time\n2012-10-13T13:12:45+00:00,A,1\n",
        b"Timestamp,Host,Message\n2012-10-13T13:12:45+00:00,n7,hello\n",
        b'{"event_type": "A", "time": 1, "meta": "start step legend"}\n',
        b"<?xml version='1.0'?><log xes.version='1.0'><trace/></log>",
        b"<?xml version='1.0'?><GANGLIA_XML VERSION='3'></GANGLIA_XML>",
        b'[{"event": 1}]',
        b"2015-10-18 18:01:47,978 INFO [main] org.apache: msg\n",
    ]
    assert [(type(reader), other) for reader in readers for other in others if reader.recognises(other)] == []
    taken = [data for _, data in SAMPLES if GangliaXml().recognises(data)]
    assert taken == []


@pytest.mark.parametrize(
    ("reader", "data"), SAMPLES, ids=lambda value: "" if isinstance(value, bytes) else type(value).__name__
)
def test_an_empty_file_has_no_events_and_a_byte_order_mark_does_no_harm(reader: Reader, data: bytes) -> None:
    assert read(reader, b"") == []
    if not isinstance(reader, GangliaRrd):
        assert reader.recognises(b"\xef\xbb\xbf" + data)
        assert read(reader, b"\xef\xbb\xbf" + data) == read(reader, data) != []


@pytest.mark.skipif(shutil.which("rrdtool") is None, reason="rrdtool is not installed")
def test_a_database_and_what_rrdtool_dumps_of_it_agree(tmp_path: Path) -> None:
    last = 1_350_000_000
    database = tmp_path / "load_one.rrd"
    database.write_bytes(rrd_bytes([Ring([[0.25], [NAN], [0.75], [1.0]], newest=1)], last=last))
    dumped = subprocess.run(["rrdtool", "dump", str(database)], capture_output=True, check=True).stdout
    ours = read(GangliaRrd(), database.read_bytes())
    assert [(row["time"] - last, row["value"]) for row in ours] == [(-45, 0.25), (-15, 0.75), (0, 1.0)]
    assert RrdDump().recognises(dumped)
    assert read(RrdDump(), dumped) == ours


@pytest.mark.realdata
def test_a_real_dump_says_what_its_database_says(real_logs: Path) -> None:
    folder = real_logs / "ganglia" / "rrd"
    dumped_report, report = ReadReport(), ReadReport()
    text = (folder / "rrdtool.xml").read_bytes()
    ours = read(GangliaRrd(), (folder / "rrdtool.rrd").read_bytes(), report=report)
    assert read(RrdDump(), gzip.decompress(gzip.compress(text)), report=dumped_report) == ours
    assert (report.records, report.skipped) == (dumped_report.records, dumped_report.skipped)
    assert (report.records, len(ours)) == (68, 46)
