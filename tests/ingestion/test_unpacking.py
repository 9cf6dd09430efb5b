"""Archives of several files: each member is a file of its own, by its own name."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.errors import LogFormatError
from cepctl.ingestion import unpacking
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.source.locations import InputFile, Location, list_inputs
from cepctl.runners.local import LocalRunner
from tests.io.source.test_archives import tarred, zipped

A, B = b"event_type,time\nA,5\nA,6\n", b'{"event_type":"B","time":7}\n'
TWO = (("deep/b.jsonl", B), ("a.csv", A))
ARCHIVES = {"zip": zipped(*TWO), "tar": tarred(*TWO), "tar.gz": gzip.compress(tarred(*TWO))}


def taken(folder: Path, data: bytes, **options: Any) -> tuple[IngestSummary, list[str]]:
    """The summary, and the ids of all events."""
    (folder / "in").mkdir()
    (folder / "in" / "logs.bin").write_bytes(data)
    summary = ingest([str(folder / "in" / "logs.bin")], str(folder / "out"), IngestOptions(**options))
    return summary, sorted(pq.read_table(folder / "out").column("event_id").to_pylist())


@pytest.mark.parametrize("name", ARCHIVES)
def test_each_file_of_an_archive_is_read_by_its_own_name_and_format(name: str, tmp_path: Path) -> None:
    summary, ids = taken(tmp_path, ARCHIVES[name])
    assert ids == ["logs.bin/logs/a.csv#1", "logs.bin/logs/a.csv#2", "logs.bin/logs/deep/b.jsonl#1"]
    assert [(file.file, file.format) for file in summary.accounts] == [
        ("logs.bin/logs/a.csv", "csv"),
        ("logs.bin/logs/deep/b.jsonl", "jsonl"),
    ]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in", "out"]


PACKED = {"gz": gzip.compress, "zst": pa.Codec("zstd").compress}
MANY = b"".join(
    b'{"event_type":"B","time":%d}\n' % i if i % 997 else b'{"event_type":"B","ti\n' for i in range(1, 20_000)
)


def read_by(readers: int, folder: Path, data: bytes) -> tuple[Any, ...]:
    """All that is taken of a packed file by so many processes, and what is told of it."""
    (folder / str(readers)).mkdir()
    (folder / "b.log").write_bytes(data)
    out = folder / str(readers) / "out"
    summary = ingest(
        [str(folder / "b.log")], str(out), IngestOptions(max_errors=100), LocalRunner(1 << 16, readers)
    )
    assert [each.name for each in (folder / str(readers)).iterdir()] == ["out"]
    return pq.read_table(out).to_pylist(), summary.accounts, summary.notices


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("cut", [0, 9], ids=["whole", "cut"])
def test_a_large_packed_file_is_read_in_parts_as_in_one(
    kind: str, cut: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = bytes(PACKED[kind](MANY))
    packed, copies = packed[: len(packed) - cut], list[InputFile]()
    plain = unpacking._plain

    def noting(*given: Any) -> InputFile:
        copies.append(plain(*given))
        return copies[-1]

    monkeypatch.setattr(unpacking, "LEAST_PACKED_BYTES", len(packed))
    monkeypatch.setattr(unpacking, "_plain", noting)
    in_one = read_by(1, tmp_path, packed)
    assert not copies
    assert read_by(2, tmp_path, packed) == in_one
    (copy,) = copies
    assert copy.name == "b.log"
    assert (copy.size == len(MANY)) != cut  # what is damaged is read as it lies there


@pytest.mark.parametrize(
    ("least", "most", "share"),
    [(1 << 30, 1 << 30, 0.5), (1, 9, 0.5), (1, 1 << 30, 1e-9)],
    ids=["small", "huge", "no room"],
)
def test_what_is_small_or_huge_or_has_no_room_is_unpacked_as_it_is_read(
    least: int, most: int, share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "LEAST_PACKED_BYTES", least)
    monkeypatch.setattr(unpacking, "MOST_PACKED_BYTES", most)
    monkeypatch.setattr(unpacking, "_SHARE_OF_DISK", share)
    log = tmp_path / "b.log"
    log.write_bytes(gzip.compress(MANY))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (file,) = unpacking.unpacked(list_inputs([str(log)]), Location(str(scratch)), 2)
    assert file.location == Location.of(str(log))
    assert not list(scratch.iterdir())


def test_a_tar_archive_of_one_file_is_read_as_that_file(tmp_path: Path) -> None:
    assert taken(tmp_path, tarred(TWO[1]))[1] == ["logs.bin#1", "logs.bin#2"]


def test_a_name_in_an_archive_that_is_no_text_costs_no_event(tmp_path: Path) -> None:
    _, ids = taken(tmp_path, tarred(("a\udcff.csv", A), ("b.csv", A[:20])))
    assert ids == ["logs.bin/logs/a\ufffd.csv#1", "logs.bin/logs/a\ufffd.csv#2", "logs.bin/logs/b.csv#1"]


def test_names_in_an_archive_lead_nowhere_and_stay_apart(tmp_path: Path) -> None:
    _, ids = taken(tmp_path, tarred(("../../../x.csv", A[:20]), ("../../../x.csv", A[:20]), ("/etc/.hid", A)))
    assert ids == ["logs.bin/logs/x.csv#1", "logs.bin/logs/x.csv@2#1"]
    assert not (tmp_path / "x.csv").exists()


def test_what_is_no_log_in_an_archive_is_left_out_and_said(tmp_path: Path) -> None:
    summary, ids = taken(tmp_path, zipped(("a.csv", A), ("README", b"Words, words.")))
    assert len(ids) == 2
    assert [file.file for file in summary.unreadable] == ["logs.bin/logs/README"]


def test_an_archive_in_an_archive_is_left_out_by_its_name(tmp_path: Path) -> None:
    inner = gzip.compress(tarred(*TWO))
    summary, ids = taken(tmp_path, zipped(("a.csv", A), ("old.tgz", inner), ("one.zip", zipped(TWO[1]))))
    assert len(ids) == 4
    assert [file.unreadable for file in summary.unreadable] == [
        "logs.bin/logs/old.tgz: an archive in an archive; unpack it, and name the folder"
    ]


@pytest.mark.parametrize("name", ["tar", "tar.gz"])
def test_an_archive_that_is_cut_gives_the_files_before_the_cut_and_says_so(name: str, tmp_path: Path) -> None:
    many = tarred(*TWO, ("c.csv", b"event_type,time\n" + b"A,5\n" * 60_000))
    packed = many if name == "tar" else gzip.compress(many, 0)
    (tmp_path / "late").mkdir()
    (tmp_path / "soon").mkdir()
    late, ids = taken(tmp_path / "late", packed[:-60_000], max_errors=10)
    assert "logs.bin/logs/c.csv#1" in ids
    assert [cause.partition(":")[0] for cause in late.rejected] == ["the file is damaged"]
    soon, ids = taken(tmp_path / "soon", packed[:20_000])
    assert [each.rpartition("/")[2] for each in ids] == ["a.csv#1", "a.csv#2", "b.jsonl#1"]
    assert [str(each.unreadable).partition(" damaged")[0] for each in soon.unreadable] == [
        "logs.bin/logs/c.csv: the archive is"
    ]


def test_an_archive_that_would_fill_the_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "_SHARE_OF_DISK", 1e-15)
    with pytest.raises(LogFormatError, match="more than half of the free disk space; unpack it"):
        taken(tmp_path, ARCHIVES["zip"])


def test_a_spreadsheet_is_refused_in_one_line(tmp_path: Path) -> None:
    sheet = zipped(*TWO).replace(b"logs/deep/b.jsonl", b"mimetype....jsonl")
    with pytest.raises(LogFormatError, match=r"a zip archive with mimetype.*; unpack it"):
        taken(tmp_path, sheet)
