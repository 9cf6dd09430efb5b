"""Parts of a dataset that are given as files are held to its completion marker."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cepctl.errors import EventSchemaError
from cepctl.ingestion import ordering
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.matching.inputs import open_events

IDS = ["a.csv#1", "a.csv#2", "a.csv#3"]


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset of three parts with one event each."""
    monkeypatch.setattr(ordering, "PART_EVENTS", 1)
    log = tmp_path / "a.csv"
    log.write_text("event_type,time\nA,1\nA,2\nA,3\n")
    ingest([str(log)], str(tmp_path / "events"), IngestOptions())
    monkeypatch.undo()
    return tmp_path / "events"


def ids(*paths: Path | str) -> tuple[list[str], tuple[str, ...]]:
    """The ids of the events at some paths, and what was said while they were read."""
    with open_events([str(path) for path in paths]) as events:
        notices = events.summary.notices if events.summary is not None else ()
        return events.read([]).column("event_id").to_pylist(), notices


@pytest.mark.parametrize(
    "path", ["events", "events/*", "events/part-*.parquet", "events/part-00001.parquet", "."]
)
def test_parts_of_an_incomplete_dataset_are_refused_however_they_are_named(stored: Path, path: str) -> None:
    (stored / "_SUCCESS").unlink()
    with pytest.raises(EventSchemaError) as refused:
        ids(f"{stored.parent}/{path}")
    assert str(refused.value) == (
        f"{stored}: the dataset is incomplete, it has no _SUCCESS; ingest it again or copy it whole"
    )


def test_ingest_refuses_parts_of_an_incomplete_dataset_and_writes_nothing(stored: Path) -> None:
    (stored / "_SUCCESS").unlink()
    with pytest.raises(EventSchemaError, match="incomplete"):
        ingest([str(stored)], str(stored.parent / "again"), IngestOptions())
    assert not (stored.parent / "again").exists()


def test_all_parts_of_a_complete_dataset_are_the_dataset(stored: Path) -> None:
    assert ids(f"{stored}/*.parquet") == (IDS, ())


def test_some_parts_of_a_complete_dataset_are_read_and_it_is_said(stored: Path) -> None:
    said = f"{stored}: 1 of the 3 parts of this dataset read; name the directory to read all"
    assert ids(stored / "part-00001.parquet") == (IDS[1:2], (said,))


def test_a_part_under_another_name_is_a_file_of_its_own(stored: Path) -> None:
    copy = stored.parent / "copies" / "second.parquet"
    copy.parent.mkdir()
    shutil.copy(stored / "part-00001.parquet", copy)
    assert ids(copy) == (IDS[1:2], ())
    assert ids(f"{copy.parent}/*.parquet") == (IDS[1:2], ())


def test_parquet_files_of_others_need_no_marker_whatever_they_are_called(stored: Path) -> None:
    foreign = stored.parent / "foreign"
    foreign.mkdir()
    for number in range(2):
        table = pq.read_table(
            stored / f"part-0000{number}.parquet", columns=["event_id", "event_type", "time"]
        )
        pq.write_table(table.replace_schema_metadata(None), foreign / f"part-0000{number}.parquet")
    assert ids(foreign) == ids(f"{foreign}/*.parquet") == (IDS[:2], ())
