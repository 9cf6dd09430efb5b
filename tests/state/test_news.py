"""What a run takes of its inputs: what is new, each record once, with the ids of one run over everything."""

from __future__ import annotations

import gzip
import os
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.errors import LogFormatError, UsageError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.io.contract.reader import ReadOptions
from cepctl.matching.inputs import open_events
from cepctl.state.intake import Known, arrivals
from cepctl.state.news import InputOptions, look
from cepctl.state.sources import Source
from tests.io.source.test_archives import tarred, zipped

HEADER = "event_type,lower,upper\n"
XES = (
    '<log><trace><event><string key="concept:name" value="A"/>'
    '<date key="time:timestamp" value="2024-05-0{day}T10:00:00Z"/></event></trace></log>'
)


@dataclass
class Taking:
    """Runs over some inputs, of which each takes what is new."""

    paths: tuple[str, ...]
    options: IngestOptions = field(default_factory=IngestOptions)
    sources: tuple[Source, ...] = ()
    left_out: list[str] = field(default_factory=list)
    known: Known = field(default_factory=lambda: Known({}, None, {}))

    def take(self, *, final: bool = False) -> list[str]:
        """The ids of the new events."""
        with tempfile.TemporaryDirectory() as scratch:
            parts = Path(scratch, "parts")
            parts.mkdir()
            news = look(
                self.paths,
                self.sources,
                InputOptions(parts, self.options.input_format, self.options.read, to_the_end=final),
            )
            self.left_out = news.left_out
            with arrivals(news, self.known, self.options, Path(scratch)) as found:
                self.sources = found.sources
                self.known = Known({}, found.schema.time_unit, {})
                return sorted(found.read([]).column("event_id").to_pylist(), key=_by_number)


def _by_number(event_id: str) -> tuple[str, int]:
    name, _, number = event_id.rpartition("#")
    return (name, int(number)) if name else (number, 0)


def ids_at_once(*paths: Path) -> list[str]:
    with open_events([str(path) for path in paths]) as events:
        return sorted(events.read([]).column("event_id").to_pylist(), key=_by_number)


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def test_a_growing_csv_is_read_up_to_the_last_whole_line(folder: Path) -> None:
    log = folder / "a.csv"
    append(log, f"{HEADER}A,1,1\nB,2,")
    runs = Taking((str(log),))
    assert runs.take() == ["a.csv#1"]
    assert runs.take() == []
    append(log, "2\n\nC,3,3\n")
    assert runs.take() == ["a.csv#2", "a.csv#4"]  # a blank line has a number, too
    append(log, "D,4,4")
    assert runs.take() == []
    assert runs.take(final=True) == ["a.csv#5"]
    assert ids_at_once(log) == [f"a.csv#{number}" for number in (1, 2, 4, 5)]


def test_a_quoted_line_break_ends_no_record(folder: Path) -> None:
    log = folder / "a.csv"
    append(log, 'event_type,lower,upper,text\nA,1,1,"one\ntwo')
    runs = Taking((str(log),))
    assert runs.take() == []
    append(log, '"\nB,2,2,"three\n')
    assert runs.take() == ["a.csv#1"]
    append(log, 'four"\nC,3,3,x\n')
    assert runs.take() == ["a.csv#2", "a.csv#3"] == ids_at_once(log)[1:]


def test_json_lines_keep_their_line_numbers(folder: Path) -> None:
    log = folder / "a.jsonl"
    line = '{{"event_type": "A", "lower": {0}, "upper": {0}}}\n'
    append(log, line.format(1) + "\n" + line.format(2))
    runs = Taking((str(log),), IngestOptions(max_errors=5))
    assert runs.take() == ["a.jsonl#1", "a.jsonl#3"]
    append(log, "no object\n" + line.format(3))  # a part may begin with what no reader would recognise
    assert runs.take() == ["a.jsonl#5"]


def test_the_last_record_of_a_log4j_log_waits_for_the_next(folder: Path) -> None:
    log = folder / "app.log"
    record = "2015-10-18 18:01:{:02d},978 INFO [main] org.apache.hadoop.mapreduce.v2.app.MRAppMaster: {}\n"
    append(log, record.format(1, "Executing with tokens:") + record.format(2, "one"))
    runs = Taking((str(log),), IngestOptions(read=ReadOptions(keep_unmatched=True)))
    assert runs.take() == ["app.log#1"]
    append(log, "\tat a stack trace\n\tthat goes on\n")
    assert runs.take() == []
    append(log, record.format(3, "two") + record.format(4, "thr"))
    assert runs.take() == ["app.log#2", "app.log#3"]
    assert runs.take(final=True) == ["app.log#4"]


def test_a_rotated_log_goes_on_under_its_new_name(folder: Path) -> None:
    log, old = folder / "a.csv", folder / "a.csv.1"
    append(log, f"{HEADER}A,1,1\n")
    runs = Taking((f"{folder}/a.csv*",))
    assert runs.take() == ["a.csv#1"]
    append(log, "B,2,2\n")
    log.rename(old)
    append(log, f"{HEADER}C,3,3\n")
    # The new a.csv is another file of this name: its events need other ids.
    assert runs.take() == ["a.csv#2", "a.csv@2#1"]
    append(log, "D,4,4\n")
    assert runs.take() == ["a.csv@2#2"]


def test_a_log_that_was_compressed_after_its_rotation_is_not_read_again(folder: Path) -> None:
    log = folder / "a.csv"
    append(log, f"{HEADER}A,1,1\nB,2,2\n")
    runs = Taking((f"{folder}/a.csv*",))
    assert runs.take() == ["a.csv#1", "a.csv#2"]
    (folder / "a.csv.1.gz").write_bytes(gzip.compress(log.read_bytes() + b"C,3,3\n"))
    log.write_text(f"{HEADER}D,4,4\n", encoding="utf-8")
    assert runs.take() == ["a.csv#3", "a.csv@2#1"]


def test_two_logs_that_begin_alike_are_two_logs(folder: Path) -> None:
    (folder / "a.csv").write_text(f"{HEADER}A,1,1\n", encoding="utf-8")
    runs = Taking((f"{folder}/*.csv",))
    assert runs.take() == ["a.csv#1"]
    (folder / "b.csv").write_text(f"{HEADER}A,1,1\nB,2,2\n", encoding="utf-8")
    assert runs.take() == ["b.csv#1", "b.csv#2"]


def test_a_log_whose_beginning_has_changed_is_refused(folder: Path) -> None:
    log = folder / "a.csv"
    append(log, f"{HEADER}A,1,1\n")
    runs = Taking((str(log),))
    runs.take()
    log.write_text(f"{HEADER}X,1,1\nB,2,2\n", encoding="utf-8")
    with pytest.raises(
        LogFormatError, match=r"bytes that were read of it are no longer there; if it was rotated"
    ):
        runs.take()


def test_a_change_deep_in_what_was_read_last_is_noticed(folder: Path) -> None:
    log = folder / "a.csv"
    lines = [f"A,{i},{i}\n" for i in range(5_000)]
    append(log, HEADER + "".join(lines))
    runs = Taking((str(log),))
    runs.take()
    lines[-2] = "B" + lines[-2][1:]
    log.write_text(HEADER + "".join(lines) + "C,1,1\n", encoding="utf-8")
    with pytest.raises(LogFormatError, match=r"no longer there"):
        runs.take()


def test_new_parquet_files_are_read_and_changed_ones_refused(folder: Path) -> None:
    def write(name: str, *types: str) -> None:
        table = pa.table({"event_type": list(types), "lower": [1] * len(types), "upper": [1] * len(types)})
        pq.write_table(table, folder / name)

    write("a.parquet", "A")
    runs = Taking((str(folder),))
    assert runs.take() == ["a.parquet#1"]
    write("b.parquet", "A", "B")
    assert runs.take() == ["b.parquet#1", "b.parquet#2"]
    (folder / "b.parquet").rename(folder / "c.parquet")
    assert runs.take() == []
    write("a.parquet", "C", "D", "E")
    with pytest.raises(LogFormatError, match=r"a parquet file is read once, as a whole; put new events into"):
        runs.take()


def test_datasets_of_several_days_are_told_apart_by_their_folders(folder: Path) -> None:
    for day in ("monday", "tuesday"):
        log = folder / f"{day}.csv"
        log.write_text(f"event_id,{HEADER}{day},A,1,1\n", encoding="utf-8")
        ingest([str(log)], str(folder / day), IngestOptions())
    news = look([str(folder / "monday"), str(folder / "tuesday")], (), InputOptions(folder))
    assert [piece.file.name for piece in news.pieces] == [
        "monday/part-00000.parquet",
        "tuesday/part-00000.parquet",
    ]


def test_an_attribute_that_changes_its_type_is_refused(folder: Path) -> None:
    log = folder / "a.csv"
    append(log, "event_type,lower,upper,x\nA,1,1,5\n")
    runs = Taking((str(log),))
    runs.take()
    runs.known = Known({"x": pa.int64()}, runs.known.time_unit, {})
    append(log, "A,2,2,2.5\n")
    assert runs.take() == ["a.csv#2"]  # whole and other numbers are numbers
    runs.known = Known({"x": pa.float64()}, runs.known.time_unit, {})
    append(log, "A,3,3,many\n")
    with pytest.raises(UsageError, match=r"attribute 'x' was float in all events before, and is string"):
        runs.take()


def test_a_file_of_no_known_format_is_told_once_and_looked_at_again_when_it_changes(folder: Path) -> None:
    (folder / "notes.txt").write_text("remember the milk\n", encoding="utf-8")
    append(folder / "a.csv", f"{HEADER}A,1,1\n")
    runs = Taking((str(folder),))
    assert runs.take() == ["a.csv#1"]
    assert [reason.split(":")[0] for reason in runs.left_out] == ["notes.txt"]
    assert (runs.take(), runs.left_out) == ([], [])
    (folder / "notes.txt").write_text(f"{HEADER}B,2,2\n", encoding="utf-8")
    assert runs.take() == ["notes.txt#1"]


def test_a_log_that_is_gone_before_its_last_record_was_read_is_told(folder: Path) -> None:
    append(folder / "a.csv", f"{HEADER}A,1,1\nB,2")
    append(folder / "b.csv", f"{HEADER}A,1,1\n")
    runs = Taking((str(folder),))
    runs.take()
    (folder / "a.csv").unlink()
    assert runs.take() == []
    assert "a.csv is gone, and with it its last record" in runs.left_out[0]
    assert (runs.take(), runs.left_out) == ([], [])


def test_standard_input_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"standard input is not known again"):
        Taking(("-",)).take()


def test_a_quote_within_a_value_does_not_hold_back_the_rows_behind_it(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    append(log, 'event_type,lower,upper,size\nA,1,1,5" disk\nA,2,2,small\n')
    taking = Taking((str(log),))
    assert taking.take() == ["a.csv#1", "a.csv#2"]
    append(log, "A,3,3,small\n")
    assert taking.take() == ["a.csv#3"]


@pytest.mark.parametrize("name", ["app.csv", "app.csv.gz", "log.xes"])
def test_other_content_of_the_same_size_and_time_is_noticed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    texts = [HEADER + "A,1,2\n", HEADER + "A,3,4\n"]
    if name.endswith(".xes"):
        texts = [XES.format(day=day) for day in (1, 2)]
    contents = [text.encode() for text in texts]
    if name.endswith(".gz"):
        contents = [gzip.compress(content, mtime=0) for content in contents]
    assert len(contents[0]) == len(contents[1])
    path.write_bytes(contents[0])
    before = path.stat().st_mtime_ns
    taking = Taking((str(path),))
    assert len(taking.take()) == 1
    assert taking.take() == []
    path.write_bytes(contents[1])
    os.utime(path, ns=(before, before))
    with pytest.raises(LogFormatError, match=r"no longer there|has changed since it was read"):
        taking.take()


def test_a_state_that_does_not_know_what_was_on_disk_learns_it(tmp_path: Path) -> None:
    path = tmp_path / "app.csv"
    append(path, HEADER + "A,1,2\n")
    taking = Taking((str(path),))
    taking.take()
    known = taking.sources[0]
    taking.sources = (replace(known, on_disk=""),)
    assert taking.take() == []
    assert taking.sources == (known,)


def test_what_is_no_file_is_told_once(tmp_path: Path) -> None:
    append(tmp_path / "app.csv", HEADER + "A,1,2\n")
    os.mkfifo(tmp_path / "pipe")
    taking = Taking((str(tmp_path),))
    assert taking.take() == ["app.csv#1"]
    assert taking.left_out == ["pipe: a named pipe, not a file; name it as a PATH to read it"]
    append(tmp_path / "app.csv", "A,3,4\n")
    assert taking.take() == ["app.csv#2"]
    assert taking.left_out == []


def test_a_pipe_is_refused_as_standard_input_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="pipe is not known again in the next run; write it to a file"):
        Taking((str(tmp_path / "pipe"),)).take()


def test_an_archive_of_several_logs_is_read_once_and_what_is_packed_later_goes_on(tmp_path: Path) -> None:
    """Members are logs like any other: one may have begun as a file, another may have grown."""
    plain, packed = tmp_path / "app.csv", tmp_path / "old.zip"
    rows = HEADER.encode() + b"A,1,1\n"
    plain.write_bytes(rows)
    taking = Taking((f"{tmp_path}/*",))
    assert taking.take() == ["app.csv#1"]
    plain.unlink()
    packed.write_bytes(
        zipped(("app.csv", rows + b"A,2,2\n"), ("b.jsonl", b'{"event_type":"B","lower":5,"upper":5}\n'))
    )
    assert taking.take() == ["app.csv#2", "old.zip/logs/b.jsonl#1"]
    assert taking.take() == []
    packed.write_bytes(zipped(("app.csv", rows + b"A,2,2\nA,3,3\n"), ("c.csv", rows)))
    assert taking.take() == ["app.csv#3", "old.zip/logs/c.csv#1"]
    packed.rename(tmp_path / "older.zip")
    assert taking.take() == []
    packed = tmp_path / "older.zip"
    packed.write_bytes(
        gzip.compress(tarred(("app.csv", rows + b"A,2,2\nA,3,3\nA,4,4"), ("moved.csv", rows + b"A,9,9")))
    )
    assert taking.take(final=True) == ["app.csv#4", "old.zip/logs/c.csv#2"]


def test_the_end_of_logs_in_an_archive_is_taken_at_the_end(tmp_path: Path) -> None:
    logs = tmp_path / "logs.tar"
    logs.write_bytes(
        tarred(("a.csv", HEADER.encode() + b"A,1,1\nA,2,2"), ("b.csv", HEADER.encode() + b"B,1,1"))
    )
    taking = Taking((str(logs),))
    assert taking.take() == ["logs.tar/logs/a.csv#1"]
    assert taking.take() == []
    assert taking.take(final=True) == ["logs.tar/logs/a.csv#2", "logs.tar/logs/b.csv#1"]


def test_an_archive_in_an_archive_is_left_out_once_and_a_changed_document_is_refused(tmp_path: Path) -> None:
    logs = tmp_path / "logs.zip"
    inner = tarred(("a.csv", b""), ("b.csv", b""))
    logs.write_bytes(zipped(("a.xes", XES.format(day=1).encode()), ("b.tar", inner)))
    taking = Taking((str(logs),))
    assert taking.take() == ["logs.zip/logs/a.xes#1"]
    assert taking.left_out == [
        "logs.zip/logs/b.tar: an archive in an archive; unpack it, and name the folder"
    ]
    logs.write_bytes(zipped(("a.xes", XES.format(day=2).encode()), ("b.tar", inner)))
    with pytest.raises(LogFormatError, match=r"logs\.zip/logs/a\.xes has changed since it was read"):
        taking.take()
    assert taking.left_out
