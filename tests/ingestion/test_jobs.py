"""Ingest: schemas that agree, ids that are unique, rejects that are counted, output whole or not at all."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl import __version__
from cepctl.errors import LogFormatError, UncertaintyModelError, UsageError
from cepctl.event_table import FIXED_COLUMNS, is_attribute
from cepctl.ingestion import ordering, reading, schemas
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.rejects import RejectLog
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.reader import ReadOptions, Reject
from cepctl.io.tabular import parquet_pieces
from cepctl.schema import META_MODEL, META_TIME_UNIT, META_TYPE_COUNTS, META_VERSION
from cepctl.uncertainty.model import parse_model

DAY_LOG = """<log><trace><string key="concept:name" value="c1"/>
<event><string key="concept:name" value="Pay"/><date key="time:timestamp" value="{}"/></event>
<event><string key="concept:name" value="Sue"/><date key="time:timestamp" value="{}"/></event>
</trace></log>"""

POLL = """<?xml version="1.0"?><GANGLIA_XML VERSION="3.1" SOURCE="gmond"><CLUSTER NAME="c" LOCALTIME="{now}">
<HOST NAME="n1" IP="10.0.0.1" REPORTED="{now}" TN="0" TMAX="20" DMAX="0">
<METRIC NAME="load_one" VAL="0.5" TYPE="float" UNITS="" TN="{age}" TMAX="70" DMAX="0" SLOPE="both"/>
</HOST></CLUSTER></GANGLIA_XML>"""


def write(directory: Path, **files: str) -> Path:
    for name, text in files.items():
        (directory / name.replace("__", ".")).write_text(text)
    return directory


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "events"


def run(logs: Path, output: Path, **choices: Any) -> IngestSummary:
    return ingest([str(logs)], str(output), IngestOptions(**choices))


def rows(output: Path) -> list[dict[str, Any]]:
    return [
        row for part in sorted(output.glob("*.parquet")) for row in pq.ParquetFile(part).read().to_pylist()
    ]


def schema(output: Path) -> pa.Schema:
    return pq.read_schema(output / "part-00000.parquet")


def column_types(output: Path) -> dict[str, str]:
    return {field.name: str(field.type) for field in schema(output) if is_attribute(field)}


def test_a_dataset_has_the_fixed_columns_then_attributes_by_code_point(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time,b,Z,a\nA,1,1,2,3\n")
    run(logs, output)
    assert schema(output).names == [*FIXED_COLUMNS, "record", "Z", "a", "b"]
    assert sorted(path.name for path in output.iterdir()) == ["_SUCCESS", "part-00000.parquet"]


def test_made_up_ids_are_the_path_below_the_argument_and_the_number(logs: Path, output: Path) -> None:
    (logs / "deep").mkdir()
    write(logs / "deep", a__csv="event_type,time\nA,2\nA,1\n")
    run(logs, output)
    assert [(row["event_id"], row["source"]) for row in rows(output)] == [
        ("deep/a.csv#2", "deep/a.csv"),
        ("deep/a.csv#1", "deep/a.csv"),
    ]


def test_rows_are_sorted_by_lower_then_by_id_across_files(logs: Path, output: Path) -> None:
    write(
        logs,
        a__csv="event_type,event_id,lower,upper\nA,x,5,5\nA,b,1,9\n",
        b__csv="event_type,event_id,lower,upper\nA,a,1,2\nA,Z,1,1\n",
    )
    run(logs, output)
    assert [row["event_id"] for row in rows(output)] == ["Z", "a", "b", "x"]


def test_the_metadata_says_unit_version_model_and_counts(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time\nB,1\nA,1\nB,2\n")
    model = parse_model("time_unit = '1 s'\n")
    run(logs, output, model=model)
    metadata = schema(output).metadata
    assert metadata[META_TIME_UNIT] == b"1 s"
    assert metadata[META_VERSION] == __version__.encode()
    assert metadata[META_MODEL] == model.text.encode()
    assert json.loads(metadata[META_TYPE_COUNTS]) == {"A": 1, "B": 2}


def test_statistics_of_lower_let_a_reader_skip_row_groups(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time\nA,7\nA,3\n")
    run(logs, output)
    group = pq.ParquetFile(output / "part-00000.parquet").metadata.row_group(0)
    column = next(
        group.column(i) for i in range(group.num_columns) if group.column(i).path_in_schema == "lower"
    )
    assert (column.statistics.min, column.statistics.max) == (3, 7)


@pytest.mark.parametrize(
    ("first", "second", "kind", "values"),
    [
        ("1", "2", "int64", [1, 2]),
        ("1", "0.5", "double", [1.0, 0.5]),
        ("true", "FALSE", "bool", [True, False]),
        ("1.10", "x", "string", ["1.10", "x"]),
        ("1", "true", "string", ["1", "true"]),
        ("007", "8", "string", ["007", "8"]),
        ("1", "99999999999999999999", "string", ["1", "99999999999999999999"]),
        ("", "2", "int64", [None, 2]),
        ("", "", "string", [None, None]),
    ],
)
def test_an_attribute_has_one_type_in_all_files(
    logs: Path, output: Path, first: str, second: str, kind: str, values: list[object]
) -> None:
    write(logs, a__csv=f"event_type,time,x\nA,1,{first}\n", b__csv=f"event_type,time,x\nA,2,{second}\n")
    run(logs, output)
    assert column_types(output) == {"x": kind}
    assert [row["x"] for row in rows(output)] == values


def test_types_from_json_and_from_text_agree(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time,x\nA,1,3\n", b__jsonl='{"event_type":"A","time":2,"x":4}\n')
    run(logs, output)
    assert column_types(output) == {"x": "int64"}


def test_a_mix_of_types_becomes_text_with_a_warning(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time,x\nA,1,3\n", b__csv="event_type,time,x\nA,2,high\n")
    summary = run(logs, output)
    assert summary.notices[-1] == "attribute 'x' holds int and string; its column is text"


def test_too_many_attributes_leave_the_rarest_to_a_json_column(
    logs: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schemas, "MOST_ATTRIBUTES", 2)
    lines = [
        {"event_type": "A", "time": 1, "p": 1, "q": 2, "r": 3},
        {"event_type": "A", "time": 2, "r": 4, "p": 5},
    ]
    write(logs, a__jsonl="\n".join(json.dumps(line) for line in lines))
    summary = run(logs, output)
    assert column_types(output) == {"p": "int64", "r": "int64", "other": "string"}
    assert [row["other"] for row in rows(output)] == ['{"q": 2}', None]
    assert "3 attributes: the 1 with the fewest values are in the column 'other'" in summary.notices[-1]


@pytest.mark.parametrize("chunk_events", [1, 100])
def test_a_mixture_within_one_file_is_said_however_the_file_is_cut(
    chunk_events: int, logs: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "CHUNK_EVENTS", chunk_events)
    monkeypatch.setattr("cepctl.io.tabular.json_lines._BLOCK_BYTES", 30)
    lines = [{"event_type": "A", "time": number, "x": x} for number, x in enumerate([1, "one", None])]
    write(logs, a__jsonl="".join(json.dumps(line) + "\n" for line in lines))
    assert run(logs, output).notices[1:] == ("attribute 'x' holds int and string; its column is text",)
    assert [row["x"] for row in rows(output)] == ["1", "one", None]


def test_attributes_named_like_columns_of_the_reader_keep_their_names(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time,number,before,source,end\nA,1,17,x,here,z\n")
    run(logs, output)
    assert rows(output)[0]["number"] == 17
    assert rows(output)[0]["attr:source"] == "here"


def test_a_given_id_that_occurs_again_is_a_reject(logs: Path, output: Path) -> None:
    write(
        logs,
        a__csv="event_type,event_id,time\nA,x,9\nB,x,1\n",
        b__csv="event_type,event_id,time\nC,x,0\nD,y,0\n",
    )
    summary = run(logs, output)
    assert [(row["event_type"], row["event_id"]) for row in rows(output)] == [("D", "y"), ("A", "x")]
    assert [(r.source, r.cause, r.text) for r in summary.rejects] == [
        ("a.csv", "duplicate event_id", "record 2: event_id=x, event_type=B"),
        ("b.csv", "duplicate event_id", "record 1: event_id=x, event_type=C"),
    ]
    assert summary.type_counts == {"A": 1, "D": 1}


def test_a_sample_that_polls_in_two_files_show_is_one_event(logs: Path, output: Path) -> None:
    write(logs, a__xml=POLL.format(now=1_000, age=5), b__xml=POLL.format(now=1_015, age=20))
    summary = run(logs, output)
    assert [row["event_id"] for row in rows(output)] == ["a.xml#1"]
    assert summary.skipped == {"repeated sample": 1}


def test_times_that_are_all_local_midnights_stand_for_their_days(logs: Path, output: Path) -> None:
    days = ("2020-05-01T00:00:00+02:00", "2020-05-02T00:00:00+02:00")
    write(logs, a__xes=DAY_LOG.format(*days))
    summary = run(logs, output)
    (pay, _) = rows(output)
    assert pay["upper"] - pay["lower"] + 1 == 86_400_000
    assert pay["lower"] == pay["time"].timestamp() * 1_000
    assert summary.notices == ("a.xes: every time is a local midnight, so each stands for its whole day",)


def test_one_time_of_day_is_enough_to_take_no_time_for_a_day(logs: Path, output: Path) -> None:
    write(logs, a__xes=DAY_LOG.format("2020-05-01T00:00:00+02:00", "2020-05-02T10:00:00+02:00"))
    assert not any("midnight" in notice for notice in run(logs, output).notices)
    assert [row["upper"] - row["lower"] for row in rows(output)] == [999, 999]


def test_a_rule_is_asked_before_the_day_default(logs: Path, output: Path) -> None:
    write(logs, a__xes=DAY_LOG.format("2020-05-01T00:00:00+02:00", "2020-05-02T00:00:00+02:00"))
    model = parse_model("rule = [{ event_type = 'Pay', interval = { after = '1 s' } }]")
    run(logs, output, model=model)
    assert [row["upper"] - row["lower"] for row in rows(output)] == [1_000, 86_399_999]


def test_where_of_a_rule_sees_numbers_in_text_columns(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time,load\nA,0,9\nA,1,10\n")
    model = parse_model("rule = [{ where = 'load > 9', interval = { after = '1 s' } }]")
    run(logs, output, model=model)
    assert [row["upper"] - row["lower"] for row in rows(output)] == [0, 1_000]


def test_a_condition_that_cannot_be_evaluated_names_its_rule(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time,node\nA,0,n7\n")
    model = parse_model("rule = [{ where = 'node + 1 > 9', interval = { after = '1 s' } }]")
    with pytest.raises(UncertaintyModelError, match="uncertainty model: rule 1: where cannot be evaluated"):
        run(logs, output, model=model)


def test_chunks_and_parts_change_nothing_but_the_files(
    logs: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"T{n % 3},{n * 7919 % 101},{n}" for n in range(100)]
    write(logs, a__csv="event_type,time,x\n" + "\n".join(lines), b__csv="event_type,time,x\nB,50,0.5\n")
    run(logs, output)
    whole = rows(output)
    monkeypatch.setattr(reading, "CHUNK_EVENTS", 1)
    monkeypatch.setattr(ordering, "PART_EVENTS", 30)
    run(logs, output, overwrite=True)
    assert len(list(output.glob("*.parquet"))) == 4
    assert rows(output) == whole


def test_no_events_make_an_empty_dataset(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time\n", b__csv="")
    summary = run(logs, output)
    nothing = "the input has no records: the dataset has no events"
    assert (summary.events, summary.notices) == (0, ("b.csv: the file is empty", nothing))
    assert rows(output) == []


def test_an_existing_output_is_refused_and_untouched(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time\nA,1\n")
    run(logs, output)
    before = (output / "part-00000.parquet").read_bytes()
    with pytest.raises(UsageError, match="exists; choose another output, or replace it with --overwrite"):
        run(logs, output)
    assert (output / "part-00000.parquet").read_bytes() == before


def test_overwrite_replaces_a_dataset_but_nothing_else(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time\nA,1\n")
    run(logs, output)
    write(logs, a__csv="event_type,time\nB,1\n")
    run(logs, output, overwrite=True)
    assert [row["event_type"] for row in rows(output)] == ["B"]
    with pytest.raises(UsageError, match="is not an event dataset, so --overwrite does not replace it"):
        run(logs, logs, overwrite=True)
    assert (logs / "a.csv").exists()


def test_an_earlier_output_inside_the_input_is_no_input(logs: Path) -> None:
    write(logs, a__csv="event_type,time\nA,1\n")
    run(logs, logs / "events")
    assert run(logs, logs / "events", overwrite=True).files == 1


def test_a_failure_leaves_nothing_behind(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time\nA,1\n", b__bin="what is this?")
    with pytest.raises(LogFormatError, match=r"b\.bin: of no known format"):
        run(logs, output, strict=True)
    assert [path.name for path in output.parent.iterdir()] == ["logs"]


def test_a_file_that_was_named_must_be_readable(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time\nA,1\n", b__bin="what is this?")
    with pytest.raises(LogFormatError, match=r"b\.bin: of no known format"):
        ingest([str(logs / "a.csv"), str(logs / "b.bin")], str(output), IngestOptions())


@pytest.mark.parametrize("pattern", ["", "*"])
def test_a_file_that_was_found_and_cannot_be_read_is_left_out_with_the_reason(
    pattern: str, logs: Path, output: Path
) -> None:
    broken = '<!DOCTYPE log [<!ENTITY a "b">]><log>&a;</log>'
    write(logs, a__csv="event_type,time\nA,1\n", b__bin="what is this?", c__xes=broken, d__csv="")
    summary = ingest([str(logs / pattern)], str(output), IngestOptions())
    assert (summary.files, summary.events) == (2, 1)
    assert [(account.file, account.events) for account in summary.accounts] == [
        ("a.csv", 1),
        ("b.bin", 0),
        ("c.xes", 0),
        ("d.csv", 0),
    ]
    unknown, entities = (account.unreadable or "" for account in summary.unreadable)
    assert unknown.startswith("b.bin: of no known format")
    assert "declares XML entities" in entities


def test_a_directory_of_which_nothing_can_be_read_is_an_error(logs: Path, output: Path) -> None:
    write(logs, a__bin="what is this?", b__bin="and this?")
    with pytest.raises(LogFormatError, match=r"(?s)no file could be read\n  a\.bin: of .*\n  b\.bin: of "):
        run(logs, output)


def test_a_file_found_and_named_must_be_readable(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time\nA,1\n", b__bin="what is this?")
    with pytest.raises(LogFormatError, match=r"b\.bin: of no known format"):
        ingest([str(logs), str(logs / "b.bin")], str(output), IngestOptions())


def test_rejects_within_bounds_are_left_out_and_written_down(
    logs: Path, output: Path, tmp_path: Path
) -> None:
    write(logs, a__csv="event_type,time\nA,1\nA,?\n")
    summary = run(logs, output, rejects=str(tmp_path / "rejects.jsonl"))
    assert (summary.records, summary.events) == (2, 1)
    assert (tmp_path / "rejects.jsonl").read_text() == (
        '{"source": "a.csv", "line": 3, "cause": "no time", "raw": "A,?"}\n'
    )


def test_rows_of_parquet_that_are_too_long_are_rejects_of_the_ingest(
    tmp_path: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_pieces, "LONGEST_ROW", 1_000)
    table = pa.table({"event_type": ["A"] * 3, "time": pa.array([1, 2, 3], pa.timestamp("us", "UTC"))})
    pq.write_table(table.append_column("note", pa.array(["x", "y" * 1_001, "z"])), tmp_path / "a.parquet")
    summary = run(tmp_path / "a.parquet", output)
    assert (summary.records, summary.events) == (3, 2)
    assert summary.rejected == {"the row is longer than 64 MiB": 1}


@pytest.mark.parametrize("add", [RejectLog.extend, RejectLog.__iadd__])
def test_several_rejects_at_once_are_counted_each(add: Callable[[RejectLog, list[Reject]], Any]) -> None:
    log = RejectLog()
    add(log, [Reject("a.log", 1, "no time"), Reject("a.log", 2, "no time", records=2)])
    assert log.causes == {"no time": 3}


def test_more_than_ten_rejects_are_too_many_for_a_small_log(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time\nA,1\n" + "A,?\n" * 11)
    with pytest.raises(LogFormatError, match="11 of 12 records are bad, more than the 10 allowed"):
        run(logs, output)
    assert not output.exists()
    assert run(logs, output, max_errors=11).events == 1


def test_a_log_is_refused_when_most_of_its_records_are_bad_however_few_they_are(
    logs: Path, output: Path
) -> None:
    write(logs, a__csv="event_type,time\n" + "A,1\n" * 2 + "A,?\n" * 6)
    with pytest.raises(LogFormatError, match=r"6 of 8 records are bad, most of them(.|\n)*--time-format"):
        run(logs, output)
    assert not output.exists()
    assert run(logs, output, max_errors=6).events == 2
    write(logs, a__csv="event_type,time\n" + "A,1\n" * 4 + "A,?\n" * 4)
    assert run(logs, output, overwrite=True).events == 4


def test_a_log_without_an_event_is_refused_where_there_were_records_and_noted_where_there_were_none(
    logs: Path, output: Path
) -> None:
    write(logs, a__jsonl='{"event_type": "A", "time": "never"}\n')
    with pytest.raises(LogFormatError, match="1 of 1 records are bad, and there is no event"):
        run(logs, output, max_errors=100)
    assert not output.exists()
    (logs / "a.jsonl").unlink()
    write(logs, a__csv="event_type,time\n")
    assert run(logs, output).notices == ("the input has no records: the dataset has no events",)
    (logs / "a.csv").unlink()
    write(
        logs,
        a__log="2015-10-18 18:01:47,978 INFO [main] org.apache.hadoop.b.C: nothing that a pattern knows\n",
    )
    with pytest.raises(
        LogFormatError, match=r"none of 1 records gives an event; nothing was written\n  1 skipped: "
    ):
        run(logs, output, overwrite=True)


def test_one_in_a_thousand_is_allowed_in_a_large_log(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time\n" + "A,1\n" * 20_000 + "A,?\n" * 20)
    assert run(logs, output).rejected == {"no time": 20}


def test_a_truncated_gzip_keeps_what_came_before_and_is_a_reject(logs: Path, output: Path) -> None:
    text = "event_type,time\n" + "".join(f"A,{n**5 % 10**7}\n" for n in range(9_000))
    packed = gzip.compress(text.encode())
    (logs / "a.csv.gz").write_bytes(packed[: len(packed) * 9 // 10])
    summary = run(logs, output)
    assert summary.events > 7_000
    assert "the file is damaged" in summary.rejects[-1].cause


def test_standard_input_is_a_file_called_stdin(output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Piped:
        buffer = io.BytesIO(b"event_type,time\nA,1\n")

    monkeypatch.setattr(sys, "stdin", Piped())
    ingest(["-"], str(output), IngestOptions())
    assert [row["event_id"] for row in rows(output)] == ["stdin#1"]


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_standard_input_may_be_of_any_format(
    compress: Callable[[bytes], bytes], output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Piped:
        buffer = io.BytesIO(compress(DAY_LOG.format("2020-05-01T01:00:00Z", "2020-05-02T02:00:00Z").encode()))

    monkeypatch.setattr(sys, "stdin", Piped())
    summary = ingest(["-"], str(output), IngestOptions())
    assert [(account.file, account.format, account.events) for account in summary.accounts] == [
        ("stdin", "xes", 2)
    ]


def test_a_mapping_that_nothing_can_use_is_said(logs: Path, output: Path) -> None:
    write(logs, a__xes=DAY_LOG.format("2020-05-01T01:00:00.5Z", "2020-05-02T02:00:00Z"))
    mapping = ReadOptions(columns=(("time", "ts"),))
    assert run(logs, output, read=mapping).notices[-1] == (
        "--map was not used: it is for plain event files, and there is none"
    )
    write(logs, b__csv="event_type,ts\nA,1\n")
    assert not any("--map" in note for note in run(logs, output, read=mapping, overwrite=True).notices)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (("5", "n/a"), "int and string"),
        (("5", "0.5", "x"), "float and int and string"),
        (("true", "7"), "bool and int"),
        (("5", "0.5"), None),
        (("x", "y"), None),
        (("007", "x"), None),
    ],
)
def test_several_types_in_a_column_of_csv_are_said(
    logs: Path, output: Path, values: tuple[str, ...], said: str | None
) -> None:
    write(logs, a__csv="event_type,time,x\n" + "".join(f"A,{n},{value}\n" for n, value in enumerate(values)))
    notices = [notice for notice in run(logs, output).notices if "attribute" in notice]
    assert notices == ([] if said is None else [f"attribute 'x' holds {said}; its column is text"])


def test_an_unknown_zone_is_refused_before_anything_is_read(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time\nA,1\n")
    with pytest.raises(UsageError, match="unknown time zone 'Mars/Base'"):
        run(logs, output, read=ReadOptions(time_zone="Mars/Base"))


def test_the_output_may_be_a_uri(logs: Path, output: Path) -> None:
    write(logs, a__csv="event_type,time\nA,1\n")
    ingest([logs.as_uri()], output.as_uri(), IngestOptions())
    assert [row["event_id"] for row in rows(output)] == ["a.csv#1"]


def test_what_is_the_same_of_many_files_is_said_once(logs: Path, output: Path) -> None:
    for number in range(6):
        write(logs, **{f"{number}__csv": "event_type,time\nA,2026-01-05T10:00:00\nA,2026-01-05T11:00:00\n"})
    (notice,) = (each for each in run(logs, output).notices if "without a zone" in each)
    assert (
        notice == "6 files, 0.csv the first: times without a zone, read as UTC: 12; name their zone with --tz"
    )


def test_times_without_a_zone_are_said_once_whatever_the_format(logs: Path, output: Path) -> None:
    write(
        logs,
        a__csv="event_type,time\nA,2026-01-05T10:00:00\n",
        b__log="2026-01-05 10:00:01,123 INFO app.Main: began\n2026-01-05 10:00:02,123 INFO app.Main: ended\n",
        c__log="Jan  5 10:00:01 n1 sshd[12]: Accepted password for ann\n",
    )
    (notice,) = (each for each in run(logs, output).notices if "without a zone" in each)
    assert (
        notice == "3 files, a.csv the first: times without a zone, read as UTC: 4; name their zone with --tz"
    )


def test_of_few_files_each_is_named(logs: Path, output: Path) -> None:
    log = "event_type,time\nA,2026-10-25T02:30:00\n"
    read = ReadOptions(time_zone="Europe/Berlin")
    notices = run(write(logs, a__csv=log, b__csv=log), output, read=read).notices
    assert [each.partition(":")[0] for each in notices if "happened twice" in each] == ["a.csv", "b.csv"]
