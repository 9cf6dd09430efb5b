"""What lies in a directory: each file once, however links go, and everything else named."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

import pytest

from cepctl.errors import LogFormatError
from cepctl.io.source.directories import entries_below
from cepctl.io.source.locations import InputFile, is_stream, list_inputs


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with a file, beside one with another."""
    for name in ("logs/a.csv", "logs/deep/b.csv", "other/c.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path / "logs"


def listed(*paths: object, follow_links: bool = False) -> tuple[InputFile, ...]:
    return list_inputs([str(path) for path in paths], follow_links=follow_links)


def names(*paths: object, follow_links: bool = False) -> list[str]:
    return [file.name for file in listed(*paths, follow_links=follow_links) if file.left_out is None]


def reasons(*paths: object) -> list[str]:
    return [file.left_out for file in listed(*paths) if file.left_out is not None]


def test_circles_of_links_end_and_each_file_is_read_once(logs: Path) -> None:
    (logs / "deep" / "up").symlink_to("..")
    (logs / "self").symlink_to(".")
    (logs / "again.csv").symlink_to("a.csv")
    assert names(logs) == ["a.csv", "deep/b.csv"]
    assert names(logs, follow_links=True) == ["a.csv", "deep/b.csv"]


def test_a_link_to_what_is_hidden_in_the_directory_is_followed(logs: Path) -> None:
    (logs / "..data").mkdir()
    (logs / "..data" / "x.csv").write_text("")
    (logs / "x.csv").symlink_to("..data/x.csv")
    assert names(logs) == ["a.csv", "deep/b.csv", "x.csv"]


def test_a_link_out_of_the_directory_is_named_and_followed_on_request(logs: Path) -> None:
    (logs / "out").symlink_to(logs.parent / "other")
    (logs / "out.csv").symlink_to(logs.parent / "other" / "c.csv")
    assert names(logs) == ["a.csv", "deep/b.csv"]
    assert reasons(logs) == [
        f"out: a link out of {logs}, to {logs.parent}/other; --follow-links reads it",
        f"out.csv: a link out of {logs}, to {logs.parent}/other/c.csv; --follow-links reads it",
    ]
    assert names(logs, follow_links=True) == ["a.csv", "deep/b.csv", "out/c.csv"]


def test_a_link_to_the_parent_is_followed_on_request_and_meets_nothing_twice(logs: Path) -> None:
    (logs / "out").symlink_to(logs.parent)
    assert names(logs, follow_links=True) == ["a.csv", "deep/b.csv", "out/other/c.csv"]


def test_a_link_that_is_named_is_followed(logs: Path) -> None:
    (logs.parent / "link").symlink_to(logs)
    (logs.parent / "link.csv").symlink_to(logs / "a.csv")
    assert names(logs.parent / "link") == ["a.csv", "deep/b.csv"]
    assert names(logs.parent / "link.csv") == ["link.csv"]


def test_a_file_and_a_link_to_it_are_one_file(logs: Path) -> None:
    (logs.parent / "link.csv").symlink_to(logs / "a.csv")
    assert names(logs / "a.csv", logs.parent / "link.csv") == ["a.csv"]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.csv", ["a.csv", "out.csv"]),
        ("o*/*.csv", ["out/c.csv"]),
        ("**/*.csv", ["a.csv", "deep/b.csv", "out.csv"]),
    ],
)
def test_a_glob_names_links_as_a_shell_does(logs: Path, glob: str, found: list[str]) -> None:
    (logs / "out").symlink_to(logs.parent / "other")
    (logs / "out.csv").symlink_to(logs.parent / "other" / "d.csv")
    (logs.parent / "other" / "d.csv").write_text("")
    assert [name for name in names(f"{logs}/{glob}") if not name.endswith("/d.csv")] == found


def test_what_a_wide_glob_cannot_look_into_is_named(logs: Path) -> None:
    (logs / "out").symlink_to(logs.parent / "other")
    assert len(reasons(f"{logs}/**/c.csv")) == 1


def test_pipes_sockets_and_links_to_nothing_are_named_and_left_out(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(logs / "pipe")
    monkeypatch.chdir(logs)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind("socket")
        (logs / "gone").symlink_to("nowhere")
        (logs / "null").symlink_to("/dev/null")
        assert names(logs) == ["a.csv", "deep/b.csv"]
        assert reasons(logs) == [
            "gone: a link that leads nowhere (No such file or directory)",
            f"null: a link out of {logs}, to /dev/null; --follow-links reads it",
            "pipe: a named pipe, not a file; name it as a PATH to read it",
            "socket: a socket, not a file; name it as a PATH to read it",
        ]


def test_a_name_that_is_not_utf8_is_named(logs: Path) -> None:
    with open(os.fsencode(logs) + b"/\xff.csv", "wb"):  # noqa: PTH123
        assert reasons(logs) == ["\ufffd.csv: its name is not UTF-8; rename it"]


def test_a_file_that_goes_while_a_directory_is_listed_is_not_there(logs: Path) -> None:
    (logs / "z.csv").write_text("")
    listing = entries_below(str(logs), follow_links=False, is_named=lambda name: False)
    assert next(listing).name == "a.csv"
    (logs / "z.csv").unlink()
    assert [entry.name for entry in listing] == ["deep/b.csv"]


def test_a_device_is_no_log() -> None:
    with pytest.raises(LogFormatError, match="/dev/zero is a device, not a log"):
        names("/dev/zero")


def test_a_file_in_memory_is_a_file_and_no_pipe() -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or not os.access(memory, os.W_OK):
        pytest.skip("no folder in memory")
    with tempfile.NamedTemporaryFile(dir=memory) as file:
        assert not is_stream(file.name)
    assert is_stream(os.devnull)
    assert not is_stream("/dev/zero")
