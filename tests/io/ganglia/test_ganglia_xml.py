"""Ganglia polls become one event per sample, whatever the recorder left around them."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.ganglia.gmond_xml import GangliaXml
from cepctl.io.ganglia.sample_columns import drop_repeated_samples
from cepctl.io.source.xml_mending import LOST

READER = GangliaXml()
PROLOG = """<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>
<!DOCTYPE GANGLIA_XML [
   <!ELEMENT GANGLIA_XML (GRID|CLUSTER|HOST)*>
      <!ATTLIST METRIC SOURCE (gmond) 'gmond'>
]>
"""
CPU = '<METRIC NAME="cpu_user" VAL="97.5" TYPE="float" UNITS="%" TN="4" TMAX="90" SLOPE="both"/>'


def poll(*metrics: str, reported: int = 1_000_000, host: str = 'NAME="n7" IP="10.0.0.7" TN="6"') -> str:
    inside = "\n".join(metrics)
    return (
        f'{PROLOG}<GANGLIA_XML VERSION="3.1.7" SOURCE="gmond">\n<CLUSTER NAME="c1" LOCALTIME="">\n'
        f'<HOST {host} REPORTED="{reported}" TMAX="20">\n{inside}\n</HOST>\n</CLUSTER>\n</GANGLIA_XML>\n'
    )


def read(
    text: str | bytes, options: ReadOptions | None = None, report: ReadReport | None = None
) -> list[dict[str, Any]]:
    content = text if isinstance(text, bytes) else text.encode("latin-1")
    batches = READER.read(io.BytesIO(content), "poll.xml", options or ReadOptions(), report or ReadReport())
    return [row for batch in batches for row in with_epoch_seconds(batch)]


def with_epoch_seconds(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    micros = batch.column("time").cast(pa.int64()).to_pylist()
    rows = zip(batch.to_pylist(), micros, strict=True)
    return [row | {"time": None if time is None else time // 1_000_000} for row, time in rows]


def test_a_sample_is_dated_by_when_its_host_reported_and_how_old_it_was() -> None:
    (row,) = read(poll(CPU))
    assert row["time"] == 1_000_000 + 6 - 4
    assert (row["event_type"], row["metric"], row["value"], row["value_text"]) == (
        "cpu_user",
        "cpu_user",
        97.5,
        None,
    )
    assert (row["node"], row["cluster"], row["grid"], row["units"]) == ("n7", "c1", None, "%")


def test_its_state_began_at_most_tmax_before_it_arrived() -> None:
    (row,) = read(poll(CPU))
    assert (row["before"], row["after"]) == (91_000_000, 2_000_000)
    (row,) = read(poll(CPU.replace('TMAX="90"', "")))
    assert (row["before"], row["stale"]) == (61_000_000, None)


def test_a_sample_older_than_its_tmax_is_stale() -> None:
    assert [
        row["stale"] for row in read(poll(CPU, CPU.replace("cpu_user", "x").replace('TN="4"', 'TN="91"')))
    ] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ('VAL="x86_64" TYPE="string"', None, "x86_64"),
        ('VAL="12" TYPE="string"', None, "12"),
        ('VAL="1324557204" TYPE="timestamp"', 1324557204.0, None),
        ('VAL="374336" TYPE="uint32"', 374336.0, None),
        ('VAL="nan" TYPE="float"', None, "nan"),
        ('VAL="" TYPE="float"', None, ""),
        ('VAL="0.5"', 0.5, None),
    ],
)
def test_numbers_stand_in_value_and_the_rest_in_value_text(
    metric: str, value: float | None, text: str | None
) -> None:
    (row,) = read(poll(f'<METRIC NAME="m" {metric} TN="0" TMAX="60"/>'))
    assert (row["value"], row["value_text"]) == (value, text)


def test_the_domain_of_a_host_goes_on_request() -> None:
    (row,) = read(poll(CPU, host='NAME="n7.example.com" TN="0"'), ReadOptions(drop_domain=True))
    assert (row["node"], row["node_raw"]) == ("n7", "n7.example.com")


def test_gmetad_nests_grids_and_summaries_are_skipped() -> None:
    report = ReadReport()
    inner = '<HOST NAME="n1" REPORTED="100" TN="0"><METRIC NAME="a" VAL="1" TN="0" TMAX="60"><EXTRA_DATA>'
    text = (
        f'{PROLOG}<GANGLIA_XML SOURCE="gmetad"><GRID NAME="outer"><GRID NAME="inner"><CLUSTER NAME="c">'
        f'{inner}<EXTRA_ELEMENT NAME="GROUP" VAL="cpu"/></EXTRA_DATA></METRIC></HOST></CLUSTER></GRID>'
        '<HOSTS UP="1" DOWN="0" SOURCE="gmetad"/><METRICS NAME="a" SUM="4" NUM="2" TYPE="int8"/>'
        '<CLUSTER NAME="d"><HOST NAME="n2" REPORTED="100" TN="0"><METRIC NAME="a" VAL="1" TN="0"/>'
        "</HOST></CLUSTER></GRID></GANGLIA_XML>"
    )
    first, second = read(text, report=report)
    assert (first["grid"], first["cluster"], first["node"], first["group"]) == ("inner", "c", "n1", "cpu")
    assert (second["grid"], second["cluster"], second["node"], second["group"]) == ("outer", "d", "n2", None)
    assert (report.records, report.skipped) == (2, {"METRICS summary": 1})


def test_banners_and_headers_around_the_polls_are_passed_over() -> None:
    recording = (
        "Trying 127.0.0.1...\nConnected to localhost.\nEscape character is '^]'.\n"
        + poll(CPU)
        + "Connection closed by foreign host.\nHTTP/1.0 200 OK\r\nContent-Type: text/xml\r\n\r\n"
        + poll(CPU, reported=1_000_015)
        + "bye"
    )
    report = ReadReport()
    assert [row["time"] for row in read(recording, report=report)] == [1_000_002, 1_000_017]
    assert (report.rejects, report.warnings) == ([], [])


def test_a_poll_may_lack_its_declaration_and_its_document_type() -> None:
    bare = poll(CPU).removeprefix(PROLOG)
    assert [row["time"] for row in read(bare + bare.replace("1000000", "1000015"))] == [1_000_002, 1_000_017]
    assert READER.recognises(bare.encode())


def test_a_sample_that_several_polls_show_is_one_event() -> None:
    polls = [
        poll(CPU, reported=1_000_000),
        poll(CPU, reported=1_000_002),
        poll(CPU, reported=1_000_003),
        poll(CPU, reported=1_000_001, host='NAME="n8" TN="6"'),
    ]
    report = ReadReport()
    rows = read("".join(polls), report=report)
    assert [(row["node"], row["time"]) for row in rows] == [
        ("n7", 1_000_002),
        ("n7", 1_000_005),
        ("n8", 1_000_003),
    ]
    assert (report.records, report.skipped) == (4, {"repeated sample": 1})
    assert [row["number"] for row in rows] == [1, 2, 3]


def test_a_sample_with_another_value_is_another_however_soon_it_comes() -> None:
    report = ReadReport()
    rows = read(poll(CPU) + poll(CPU.replace('VAL="97.5"', 'VAL="97.6"'), reported=1_000_001), report=report)
    assert ([row["value"] for row in rows], report.skipped) == ([97.5, 97.6], {})


def test_lower_case_attributes_are_read_alike() -> None:
    (row,) = read(poll('<METRIC name="m" val="1" type="int8" tn="0" tmax="60"/>', host='name="n7" tn="6"'))
    assert (row["node"], row["metric"], row["value"], row["time"]) == ("n7", "m", 1.0, 1_000_006)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('TN="4"', ""),
        ('TN="6"', ""),
        ('REPORTED="1000000"', ""),
        ('REPORTED="1000000"', 'REPORTED="0"'),
        ('TN="4"', 'TN="?"'),
    ],
)
def test_without_tn_or_reported_there_is_no_time_and_no_guess(old: str, new: str) -> None:
    (row,) = read(poll(CPU).replace(old, new))
    assert row["time"] is None


def test_a_metric_without_a_name_is_rejected_with_its_line() -> None:
    report = ReadReport()
    assert read("banner\n" + poll(CPU.replace("NAME", "NOM"), CPU), report=report) != []
    (reject,) = report.rejects
    assert (reject.line, reject.cause) == (1 + 9, "no metric name")


def test_a_bare_ampersand_is_survived_and_said() -> None:
    report = ReadReport()
    odd = poll('<METRIC NAME="os" VAL="A & B" TYPE="string" TN="0" TMAX="60"/>', CPU)
    rows = read(odd + odd.replace("1000000", "1000015"), report=report)
    assert [row["metric"] for row in rows] == ["os", "cpu_user"] * 2
    (warning,) = report.warnings
    assert warning.startswith("damaged XML, read as far as it goes; the first damage is at line 9: ")


def test_latin_1_text_is_decoded() -> None:
    (row,) = read(poll('<METRIC NAME="place" VAL="Zürich" TYPE="string" TN="0" TMAX="60"/>'))
    assert row["value_text"] == "Zürich"


def test_a_poll_cut_short_keeps_the_samples_before_the_cut() -> None:
    report = ReadReport()
    whole = poll(CPU, CPU.replace("cpu_user", "other"))
    rows = read(whole[: whole.index("other") + 3] + poll(CPU, reported=1_000_015), report=report)
    assert [(row["metric"], row["time"]) for row in rows] == [
        ("cpu_user", 1_000_002),
        ("cpu_user", 1_000_017),
    ]
    assert [(reject.line, reject.cause) for reject in report.rejects] == [(10, LOST), (10, "truncated poll")]


def test_markers_that_fall_between_two_chunks_are_found() -> None:
    class Dripping(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            return super().read(7)

    stream = Dripping(("junk\n" + poll(CPU) + "junk" + poll(CPU, reported=1_000_015)).encode())
    (batch,) = READER.read(stream, "poll.xml", ReadOptions(), ReadReport())
    assert batch.num_rows == 2


@pytest.mark.parametrize("declaration", ['<!ENTITY a "b">', '<!ENTITY x SYSTEM "file:///etc/passwd">'])
def test_declared_entities_are_refused(declaration: str) -> None:
    text = poll(CPU).replace("]>", f"{declaration}]>")
    with pytest.raises(LogFormatError, match=r"poll\.xml:1: .*entities"):
        read(text)


def test_a_file_without_any_poll_is_refused_and_an_empty_one_is_empty() -> None:
    assert read("") == []
    with pytest.raises(LogFormatError, match="no Ganglia poll"):
        read("a,b,c\n1,2,3\n")


def samples(*rows: tuple[str | None, str | None, int | None], values: list[float] | None = None) -> pa.Table:
    nodes, metrics, seconds = zip(*rows, strict=True)
    micros = pa.array([None if time is None else time * 1_000_000 for time in seconds], pa.int64())
    return pa.table(
        {
            "node": pa.array(nodes, pa.string()),
            "metric": pa.array(metrics, pa.string()),
            "time": micros.cast(pa.timestamp("us", "UTC")),
            "value": pa.array(values or [1.0] * len(rows), pa.float64()),
            "value_text": pa.nulls(len(rows), pa.string()),
            "row": list(range(len(rows))),
        }
    )


def test_across_files_the_earliest_of_repeated_samples_stays() -> None:
    table = samples(
        ("n1", "a", 102), ("n1", "a", 100), ("n1", "a", 103), ("n1", "a", 105), ("n1", "a", 106),
        ("n2", "a", 100), ("n1", "b", 101),
    )  # fmt: skip
    kept, dropped = drop_repeated_samples(table)
    assert kept.column("row").to_pylist() == [1, 2, 4, 5, 6]
    assert dropped == 2


def test_across_files_samples_of_other_values_all_stay() -> None:
    table = samples(("n1", "a", 100), ("n1", "a", 101), ("n1", "a", 101), values=[1.0, 2.0, 1.0])
    kept, dropped = drop_repeated_samples(table)
    assert (kept.column("row").to_pylist(), dropped) == ([0, 1], 1)


def test_across_files_rows_that_cannot_be_compared_all_stay() -> None:
    table = samples(("n1", "a", None), ("n1", "a", None), (None, "a", 1), (None, "a", 1), ("n1", None, 1))
    kept, dropped = drop_repeated_samples(table)
    assert (kept.num_rows, dropped) == (5, 0)
    assert drop_repeated_samples(table.slice(0, 0))[1] == 0


def real_polls() -> list[Path]:
    root = os.environ.get("CEPCTL_REALDATA")
    return sorted(Path(root, "ganglia", "xml").iterdir()) if root else []


@pytest.mark.realdata
@pytest.mark.skipif(not real_polls(), reason="CEPCTL_REALDATA names no Ganglia polls")
@pytest.mark.parametrize("path", real_polls(), ids=lambda path: path.name)
def test_real_polls_are_read_completely(path: Path) -> None:
    content = path.read_bytes()
    metrics = len(re.findall(rb"<METRIC ", content))
    strings = len(re.findall(rb'<METRIC [^>]*TYPE="string"', content))
    report = ReadReport()
    rows = read(content, report=report)
    assert (len(rows), report.records, report.rejects, report.warnings) == (metrics, metrics, [], [])
    assert metrics > 0
    assert sum(row["value"] is None for row in rows) == strings
    assert len({row["node"] for row in rows}) == len(re.findall(rb"<HOST [^>]*>\s*<METRIC ", content))
    assert all(row["time"] for row in rows)
