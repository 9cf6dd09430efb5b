"""Datasets, and folders taken for one, are read from their own files alone: no link, no named pipe."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from cepctl.datasets.stored import stored_dataset
from cepctl.errors import EventSchemaError
from cepctl.io.source.directories import entries_in
from tests.calls import called


@pytest.fixture
def dataset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    log = tmp_path / "log.csv"
    log.write_text("event_type,time\nA,2026-06-14T06:15:04Z\nB,2026-06-14T06:15:05Z\n")
    called(capsys, "ingest", str(log), "-o", str(tmp_path / "events"))
    return tmp_path / "events"


def test_a_named_pipe_among_logs_is_left_out(
    tmp_path: Path, dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    os.mkfifo(folder / "x.parquet")
    assert stored_dataset(str(folder)) is None
    shutil.copy(tmp_path / "log.csv", folder)
    query = "PATTERN SEQ(A a, B b) WITHIN 5 s"
    found, _ = called(capsys, "match", query, str(folder), "--runner", "local", "--format", "csv")
    assert found.count("\n") == 2


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_part_that_is_no_file_is_refused(dataset: Path, tmp_path: Path, kind: str) -> None:
    part = dataset / "part-00001.parquet"
    if kind == "link":
        part.symlink_to(next(dataset.glob("*.parquet")))
    else:
        os.mkfifo(part)
    with pytest.raises(EventSchemaError, match=f"{part.name} is a .*{kind}.*, and no file of the dataset"):
        stored_dataset(str(dataset))


def test_a_folder_of_links_to_the_parts_of_a_dataset_is_none(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "linked"
    folder.mkdir()
    for file in dataset.iterdir():
        (folder / file.name).symlink_to(file)
    assert stored_dataset(str(folder)) is None
    assert "--follow-links reads it" in called(capsys, "inspect", str(folder), code=3)[1]


def test_a_link_to_a_dataset_that_is_named_is_read(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(dataset)
    assert stored_dataset(str(tmp_path / "link")) is not None


def test_what_lies_in_a_directory_is_told_by_kind(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert entries_in(str(tmp_path)) == {
        "directory": "a directory",
        "file": None,
        "link": f"a link, to {tmp_path / 'file'}",
        "pipe": "a named pipe",
    }
