"""Files of a set whose names differ in a date tell the year of the one that has none."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from cepctl.ingestion.explaining import explained_files
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.io.source.locations import InputFile, Location
from cepctl.io.source.neighbours import dated_neighbours


def files(*paths: str) -> list[InputFile]:
    return [InputFile(Location(f"/var/log/{path}"), path) for path in paths]


@pytest.mark.parametrize(
    ("neighbour", "name"),
    [
        ("syslog-20190614", "syslog"),
        ("app-2019-06-14.log", "app.log"),
        ("app.log.2019-06-14", "app.log"),
        ("app.log-20190614.gz", "app.log"),
        ("2019-06-14_app.log", "app.log"),
    ],
)
def test_a_name_that_differs_in_a_date_alone_is_that_of_a_neighbour(neighbour: str, name: str) -> None:
    assert dated_neighbours(files(neighbour, name)) == [None, neighbour]


def test_the_latest_of_them_counts() -> None:
    found = dated_neighbours(files("syslog-20190614", "syslog-20180614", "syslog"))
    assert found == [None, None, "syslog-20190614"]


@pytest.mark.parametrize("name", ["web2.log", "other/web1.log", "web1.log.1"])
def test_other_names_and_folders_are_those_of_others(name: str) -> None:
    assert dated_neighbours(files("web1-2019-06-14.log", name)) == [None, None]


@pytest.mark.parametrize(
    ("line", "time"),
    [("Jun 14 08:00:00 web1 sshd[3]: hello\n", "2019-06-14"), ("12-31 08:00:00 INFO hello\n", "2018-12-31")],
)
def test_the_year_is_that_nearest_to_the_date_of_the_neighbour_and_that_is_said(
    line: str, time: str, tmp_path: Path
) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "app.log").write_text(line)
    (tmp_path / "set" / "app.log-20190301.gz").write_bytes(gzip.compress(line.encode()))
    summary = ingest([str(tmp_path / "set")], str(tmp_path / "e"), IngestOptions())
    account = next(each for each in summary.accounts if each.file == "app.log")
    assert str(account.first).startswith(time)
    said = f"counted on from {time}, near the date of its neighbour app.log-20190301.gz: 1"
    assert any(said in notice for notice in summary.notices)
    explained = explained_files([str(tmp_path / "set")], IngestOptions())
    assert any(said in note for note in explained[0].notes)
