"""What rrdtool and ganglia-web export becomes the same events as the databases themselves."""

from __future__ import annotations

import gzip
import io
import json
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
from cepctl.io.ganglia.rrd_fetch import RrdFetch
from cepctl.io.ganglia.rrd_file import GangliaRrd
from cepctl.io.ganglia.rrd_xport import RrdXport
from cepctl.io.ganglia.web_export import GangliaWebCsv, GangliaWebJson
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


# --- rrdtool fetch --------------------------------------------------------------------------

FETCHED = """                            sum

1000005: 4.6000000000e-01
1000020: -nan
1000035: 5,0000000000e-01
"""


def test_fetched_rows_end_at_their_stamp_and_are_as_long_as_they_are_apart() -> None:
    report = ReadReport()
    assert spans(read(RrdFetch(), FETCHED, report=report)) == [
        ("load_one", 999_991, 1_000_005, 0.46),
        ("load_one", 1_000_021, 1_000_035, 0.5),
    ]
    assert (report.records, report.skipped) == (3, {"unknown value (NaN)": 1})


def test_fetched_data_sources_are_told_apart() -> None:
    text = "      sum       num\n\n1000005: 6.0e+00 3.0e+00\n1000020: 8.0e+00 nan\n"
    rows = read(RrdFetch(), text, "rrds/__SummaryInfo__/load_one.txt")
    assert [(row["event_type"], row["value"], row["hosts"]) for row in rows] == [
        ("summary:load_one", 6.0, 3.0),
        ("summary:load_one", 8.0, None),
    ]
    rows = read(RrdFetch(), text.replace("sum", " rx").replace("num", " tx"), "c/n/eth0.txt")
    assert [(row["event_type"], row["value"]) for row in rows] == [
        ("eth0.rx", 6.0),
        ("eth0.rx", 8.0),
        ("eth0.tx", 3.0),
    ]


def test_lines_that_are_no_rows_are_rejected_with_their_line() -> None:
    report = ReadReport()
    bad = FETCHED + "ERROR: the end\n1000050: 1.0e+00 2.0e+00\n1000065: 1.0e+00"
    assert [row["time"] for row in read(RrdFetch(), bad, report=report)] == [1_000_005, 1_000_035, 1_000_065]
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (6, "not a row of rrdtool fetch"),
        (7, "not a row of rrdtool fetch"),
    ]


def test_a_lone_row_is_given_the_step_of_gmetad_and_that_is_said() -> None:
    report = ReadReport()
    (row,) = read(RrdFetch(), "sum\n\n1000005: 1.0e+00\n", report=report)
    assert (row["resolution"], row["before"]) == (15, 14_000_000)
    assert "15 s were assumed" in report.warnings[0]


def test_a_fetch_without_its_first_line_is_refused() -> None:
    with pytest.raises(LogFormatError, match=r"load_one\.txt:1: .*names of the data sources"):
        read(RrdFetch(), "1000005: 1.0e+00\n1000020: 1.0e+00\n")


# --- rrdtool xport --------------------------------------------------------------------------

XPORTED = """{ "about": "RRDtool graph JSON output",
  "meta": {
    "start": 1000005,
    "end": 1000035,
    "step": 15,
    "legend": [
      "load_five ",
      "sum"
          ]
     },
  "data": [
    [ 1.0e-01, null ],
    [ 2.0e-01, 5.0e+00 ],
    [ null, 6.0e+00 ]
  ]
}
"""
XPORTED_EVENTS = [
    ("load_five", 999_991, 1_000_005, 0.1),
    ("load_five", 1_000_006, 1_000_020, 0.2),
    ("load_one", 1_000_006, 1_000_020, 5.0),
    ("load_one", 1_000_021, 1_000_035, 6.0),
]
XPORTED_XML = """<?xml version="1.0" encoding="ISO-8859-1"?>

<xport>
  <meta>
    <start>1000005</start>
    <end>1000035</end>
    <step>15</step>
    <rows>3</rows>
    <columns>2</columns>
    <legend>
      <entry>load_five </entry>
      <entry>sum</entry>
    </legend>
  </meta>
  <data>
    <row><v>1.0e-01</v><v>NaN</v></row>
    <row><v>2.0e-01</v><v>5.0e+00</v></row>
    <row><v>NaN</v><v>6.0e+00</v></row>
  </data>
</xport>
"""
OLD = XPORTED.replace('"about"', "about").replace('"', "'")
for _name in ("meta", "start", "end", "step", "legend", "data"):
    OLD = OLD.replace(f"'{_name}'", _name)
WITH_TIMES = XPORTED.replace("[ 1.0", '[ "1000005",1.0').replace("[ 2.0", '[ "1000020",2.0')
WITH_TIMES = WITH_TIMES.replace("[ null, 6", '[ "1000035",null, 6')
WITH_TIMES_XML = XPORTED_XML.replace("<row><v>1", "<row><t>1000005</t><v>1")


@pytest.mark.parametrize(
    "text",
    [XPORTED, OLD, WITH_TIMES, json.dumps(json.loads(XPORTED), sort_keys=True), XPORTED_XML, WITH_TIMES_XML],
    ids=["JSON", "old JSON", "JSON with times", "JSON written anew", "XML", "XML with times"],
)
def test_an_export_says_the_same_in_every_form(text: str) -> None:
    report = ReadReport()
    assert spans(read(RrdXport(), text, report=report)) == XPORTED_EVENTS
    assert (report.records, report.skipped, report.rejects) == (6, {"unknown value (NaN)": 2}, [])


@pytest.mark.parametrize("text", [XPORTED, XPORTED_XML], ids=["JSON", "XML"])
def test_an_export_cut_short_keeps_the_rows_before_the_cut(text: str) -> None:
    report = ReadReport()
    rows = read(RrdXport(), text[: text.index("5.0e+00")], report=report)
    assert spans(rows) == XPORTED_EVENTS[:1]
    assert 1 <= len(report.rejects) <= 2


@pytest.mark.parametrize("row", ["    [ 1.0e-01, null ],\n", "    [ 2.0e-01, 5.0e+00 ],\n"])
def test_where_a_row_is_missing_the_times_of_all_are_as_uncertain_as_that(row: str) -> None:
    report = ReadReport()
    found = spans(read(RrdXport(), XPORTED.replace(row, ""), report=report))
    # Whichever it was: what was written at 1,000,020 lies in the interval of its value.
    true = {value: (low, high) for _, low, high, value in XPORTED_EVENTS}
    assert all(low <= true[value][0] and true[value][1] <= high for _, low, high, value in found)
    (reject,) = report.rejects
    assert reject.cause.startswith("rows are missing: the export says 3, and has 2")


def test_an_export_with_a_row_too_many_says_so() -> None:
    report = ReadReport()
    row = "    [ 2.0e-01, 5.0e+00 ],\n"
    found = spans(read(RrdXport(), XPORTED.replace(row, 2 * row), report=report))
    assert ("load_one", 1_000_006, 1_000_035, 6.0) not in found
    assert any(low <= 1_000_021 and high >= 1_000_035 for _, low, high, value in found if value == 6.0)
    assert report.rejects[0].cause.startswith("rows are too many")


def test_a_row_of_another_width_is_rejected_and_the_others_keep_their_times() -> None:
    report = ReadReport()
    rows = read(RrdXport(), XPORTED.replace("[ 2.0e-01, 5.0e+00 ]", "[ 2.0e-01 ]"), report=report)
    assert spans(rows) == [XPORTED_EVENTS[0], XPORTED_EVENTS[3]]
    assert [reject.cause for reject in report.rejects] == ["not a row of 2 numbers"]


@pytest.mark.parametrize(
    "change", [("1000005", "x"), ('"step": 15', '"step": 0'), ("load_five", "load_five")]
)
def test_an_export_that_does_not_date_its_rows_is_refused(change: tuple[str, str]) -> None:
    text = XPORTED.replace(*change) if change[0] != "load_five" else json.dumps({"meta": {}, "data": []})
    with pytest.raises(LogFormatError, match=r"load_one\.txt: the export does not say its start"):
        read(RrdXport(), text)


# --- ganglia-web ----------------------------------------------------------------------------

GRAPH = (
    "Timestamp,1-min,5-min \n"
    "1970-01-12T14:46:45+01:00,0.46,NaN\n"
    "1970-01-12T14:47:00+01:00,NaN,\n"
    "1970-01-12T14:47:15+01:00,0.5,2\n"
)


def test_a_graph_as_csv_has_one_type_per_label() -> None:
    report = ReadReport()
    rows = read(GangliaWebCsv(), GRAPH, "web/n7/graph.csv", report=report)
    assert spans(rows) == [
        ("1-min", 999_991, 1_000_005, 0.46),
        ("1-min", 1_000_021, 1_000_035, 0.5),
        ("5-min", 1_000_021, 1_000_035, 2.0),
    ]
    assert {(row["cluster"], row["node"], row["zone_seconds"]) for row in rows} == {("web", "n7", 3600)}
    assert (report.records, report.skipped) == (6, {"unknown value (NaN)": 3})


def test_a_graph_that_lies_just_anywhere_is_of_no_host() -> None:
    (row, *_) = read(GangliaWebCsv(), GRAPH, "downloads/graph.csv")
    assert (row["cluster"], row["node"]) == (None, None)


def test_rows_without_a_time_or_of_another_width_are_rejected_with_their_line() -> None:
    report = ReadReport()
    rows = read(GangliaWebCsv(), GRAPH + "?,1,2\n1970-01-12T14:47:30+01:00,1\n", report=report)
    assert len(rows) == 3
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (5, "not a row of a time and 2 numbers"),
        (6, "not a row of a time and 2 numbers"),
    ]


def test_an_hour_that_happens_twice_becomes_an_interval_of_both() -> None:
    text = "Timestamp,1-min\n2015-10-25T01:30:00,1\n2015-10-25T02:30:00,2\n"
    options = ReadOptions(time_zone="Europe/Berlin", time_unit=TimeUnit(1_000_000))
    once, twice = read(GangliaWebCsv(), text, options=options)
    assert (once["after"], twice["after"]) == (0, 3_600_000_000)
    report = ReadReport()
    read(GangliaWebCsv(), text.replace("10-25", "03-29"), options=options, report=report)
    assert [each.cause for each in report.rejects] == ["the clocks of Europe/Berlin skipped this hour"]


POINTS = [[0.46, 1_000_005], ["NaN", 1_000_020], [0.5, 1_000_035]]


def graph(**members: object) -> str:
    base = {
        "ds_name": "a0",
        "cluster_name": "",
        "host_name": "",
        "metric_name": "1-min ",
        "datapoints": POINTS,
    }
    return json.dumps([base | members])


def test_a_graph_as_json_has_one_type_per_metric() -> None:
    report = ReadReport()
    rows = read(GangliaWebJson(), graph(host_name="n8", cluster_name="db"), "graph.json", report=report)
    assert spans(rows) == [("1-min", 999_991, 1_000_005, 0.46), ("1-min", 1_000_021, 1_000_035, 0.5)]
    assert {(row["cluster"], row["node"]) for row in rows} == {("db", "n8")}
    assert report.skipped == {"unknown value (NaN)": 1}


def test_an_empty_host_comes_from_the_path_and_an_empty_metric_from_the_data_source() -> None:
    (row, _) = read(GangliaWebJson(), graph(metric_name=""), "web/n7/graph.json")
    assert (row["cluster"], row["node"], row["metric"]) == ("web", "n7", "a0")


def test_points_that_are_none_are_rejected() -> None:
    report = ReadReport()
    text = graph(datapoints=[*POINTS, ["?", 1_000_050], [1, "soon"], 7])[:-1] + ', {"x": 1}]'
    assert len(read(GangliaWebJson(), text, report=report)) == 2
    assert [reject.cause for reject in report.rejects] == ["not a pair of a value and a time"] * 3 + [
        "no metric with datapoints"
    ]


def test_a_graph_cut_short_keeps_the_points_before_the_cut() -> None:
    report = ReadReport()
    text = graph()[:-1] + ", " + graph()[1:-9]
    assert len(read(GangliaWebJson(), text, report=report)) == 3
    assert [reject.cause for reject in report.rejects] == ["the JSON is damaged here"]


def test_documents_of_another_kind_are_refused() -> None:
    with pytest.raises(LogFormatError, match="an array of metrics was expected"):
        read(GangliaWebJson(), '{"a": 1}')
    with pytest.raises(LogFormatError, match=r"load_one\.txt:1: a header"):
        read(GangliaWebCsv(), "a,b\n1,2\n")


# --- All of them ------------------------------------------------------------------------------

SAMPLES: list[tuple[Reader, bytes]] = [
    (GangliaRrd(), rrd_bytes([Ring([[1.0]])], last=1_000_005)),
    (RrdDump(), dump(archive(dumped(1_000_005, 1))).encode()),
    (RrdFetch(), FETCHED.encode()),
    (RrdXport(), XPORTED.encode()),
    (RrdXport(), OLD.encode()),
    (RrdXport(), XPORTED_XML.encode()),
    (GangliaWebCsv(), GRAPH.encode()),
    (GangliaWebJson(), graph().encode()),
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
def test_a_database_and_all_that_rrdtool_makes_of_it_agree(tmp_path: Path) -> None:
    last = 1_350_000_000
    database = tmp_path / "load_one.rrd"
    database.write_bytes(rrd_bytes([Ring([[0.25], [NAN], [0.75], [1.0]], newest=1)], last=last))

    def run(*arguments: str) -> bytes:
        return subprocess.run(["rrdtool", *arguments], capture_output=True, check=True).stdout

    span = ["--start", str(last - 60), "--end", str(last - 1)]
    graphed = [f"DEF:a={database}:sum:AVERAGE", "XPORT:a:load_one"]
    made: list[tuple[Reader, bytes]] = [
        (RrdDump(), run("dump", str(database))),
        (RrdFetch(), run("fetch", str(database), "AVERAGE", *span)),
        (RrdXport(), run("xport", "--json", *span, *graphed)),
        (RrdXport(), run("xport", *span, *graphed)),
        (RrdXport(), run("xport", "--json", "--showtime", *span, *graphed)),
        (RrdXport(), run("xport", "--showtime", *span, *graphed)),
    ]
    ours = read(GangliaRrd(), database.read_bytes())
    assert [(row["time"] - last, row["value"]) for row in ours] == [(-45, 0.25), (-15, 0.75), (0, 1.0)]
    for reader, data in made:
        assert reader.recognises(data)
        assert read(reader, data) == ours


@pytest.mark.realdata
def test_a_real_dump_says_what_its_database_says(real_logs: Path) -> None:
    folder = real_logs / "ganglia" / "rrd"
    dumped_report, report = ReadReport(), ReadReport()
    text = (folder / "rrdtool.xml").read_bytes()
    ours = read(GangliaRrd(), (folder / "rrdtool.rrd").read_bytes(), report=report)
    assert read(RrdDump(), gzip.decompress(gzip.compress(text)), report=dumped_report) == ours
    assert (report.records, report.skipped) == (dumped_report.records, dumped_report.skipped)
    assert (report.records, len(ours)) == (68, 46)
