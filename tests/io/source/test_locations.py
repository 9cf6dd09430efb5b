"""Which files PATHs name, and what they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.errors import LogFormatError
from cepctl.io.source.locations import Location, list_inputs


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name in ("b.csv", "a.csv", "deep/c.csv", "deep/er/d.csv", "deep/e.xml", "_SUCCESS", ".hidden/x.csv"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    return tmp_path


def names(*paths: Path | str) -> list[str]:
    return [file.name for file in list_inputs([str(path) for path in paths])]


def test_a_directory_gives_the_paths_below_it_without_hidden_ones(logs: Path) -> None:
    assert names(logs) == ["a.csv", "b.csv", "deep/c.csv", "deep/e.xml", "deep/er/d.csv"]


def test_the_folders_in_which_gmetad_keeps_summaries_are_not_hidden(tmp_path: Path) -> None:
    for name in ("c/__SummaryInfo__/load_one.rrd", "c/_temporary/load_one.rrd"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("")
    assert names(tmp_path) == ["c/__SummaryInfo__/load_one.rrd"]


def test_a_file_is_called_by_its_name(logs: Path) -> None:
    assert names(logs / "deep" / "c.csv") == ["c.csv"]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.csv", ["a.csv", "b.csv"]),
        ("[!a].csv", ["b.csv"]),
        ("**/*.csv", ["a.csv", "b.csv", "deep/c.csv", "deep/er/d.csv"]),
        ("d*", ["deep/c.csv", "deep/e.xml", "deep/er/d.csv"]),
        ("deep/?.csv", ["c.csv"]),
    ],
)
def test_a_glob_gives_the_paths_below_its_fixed_part(logs: Path, glob: str, found: list[str]) -> None:
    assert names(f"{logs}/{glob}") == found


def test_a_file_whose_name_looks_like_a_glob_is_that_file(logs: Path) -> None:
    (logs / "x[1].csv").write_text("")
    assert names(logs / "x[1].csv") == ["x[1].csv"]


def test_a_file_named_twice_is_read_once(logs: Path) -> None:
    assert names(logs / "a.csv", logs / "a.csv", f"{logs}/*.csv") == ["a.csv", "b.csv"]


def test_two_files_of_one_name_are_refused_with_the_remedy(logs: Path) -> None:
    (logs / "deep" / "a.csv").write_text("")
    with pytest.raises(LogFormatError, match=r"would both be called 'a.csv'.*common directory"):
        names(logs / "a.csv", logs / "deep" / "a.csv")


def test_nothing_there_is_an_error(logs: Path) -> None:
    with pytest.raises(LogFormatError, match=r"no input at .*nowhere\*"):
        names(f"{logs}/nowhere*")


def test_an_empty_directory_is_not_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(LogFormatError, match=r"no input at .*: the directory is empty$"):
        list_inputs([str(tmp_path)])
    (tmp_path / "sub" / "deeper").mkdir(parents=True)
    with pytest.raises(LogFormatError, match=r": the directory holds only directories without files$"):
        list_inputs([str(tmp_path)])
    (tmp_path / "sub" / "_SUCCESS").touch()
    with pytest.raises(LogFormatError, match=r": the directory holds only files that are passed over"):
        list_inputs([str(tmp_path)])


def test_a_file_uri_names_the_same_file(logs: Path) -> None:
    (file,) = list_inputs([(logs / "a.csv").as_uri()])
    assert file.name == "a.csv"
    filesystem, path = file.location.resolve()
    assert filesystem.get_file_info(path).is_file


def test_below_a_uri_locations_stay_uris(logs: Path) -> None:
    files = list_inputs([logs.as_uri()])
    assert files[0].location.uri == f"{logs.as_uri()}/a.csv"


def test_a_uri_with_escapes_still_names_what_is_below(tmp_path: Path) -> None:
    directory = tmp_path / "with blank"
    directory.mkdir()
    (directory / "a b.csv").write_text("x")
    (file,) = list_inputs([directory.as_uri()])
    filesystem, path = file.location.resolve()
    assert (file.name, filesystem.get_file_info(path).size) == ("a b.csv", 1)


def test_an_unknown_scheme_is_named() -> None:
    with pytest.raises(LogFormatError, match="cannot open nosuch://x/y"):
        Location.of("nosuch://x/y").resolve()
