"""Recording Java's classes: Spark starts from them, and does without them where they do not fit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cepctl.process.doctor.recording import record_classes
from cepctl.runners.spark.java import Java
from cepctl.runners.spark.java_classes import archive_name, using_options

MATCH = [sys.executable, "-m", "cepctl", "match", "PATTERN SEQ(A a, B b)", "events.csv", "--runner", "spark"]
ROWS = "confidence,start,end,match\n1.0,1970-01-01T00:00:00.001Z,1970-01-01T00:00:00.007Z,a b\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "events.csv").write_text("event_type,event_id,lower,upper\nA,a,1,1\nB,b,7,7\n")
    return tmp_path / "cache"


def test_java_gets_options_for_a_whole_archive_alone(cache: Path) -> None:
    java = Java(cache, 17)
    assert using_options(java) == ""
    archive = archive_name(java, 3)
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"12")
    assert using_options(java) == ""
    archive.write_bytes(b"123")
    assert f"-XX:SharedArchiveFile={archive} " in using_options(java)


@pytest.mark.parametrize("open_to_all", ["cepctl", "archive"])
def test_an_archive_that_another_could_have_written_is_not_used(cache: Path, open_to_all: str) -> None:
    java = Java(cache, 17)
    archive = archive_name(java, 3)
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"123")
    assert "-XX:SharedArchiveFile" in using_options(java)
    (archive if open_to_all == "archive" else archive.parent).chmod(0o777)
    assert using_options(java) == ""


def test_each_java_has_an_archive_of_its_own(cache: Path) -> None:
    names = {
        archive_name(java, 3) for java in (Java(cache / "a", 17), Java(cache / "b", 17), Java(cache, 21))
    }
    assert len(names) == 3


def said(*options: str) -> str:
    """What a match on Spark says; its rows are always the same."""
    done = subprocess.run([*MATCH, *options], capture_output=True, text=True, check=True)
    assert done.stdout == ROWS
    return done.stderr


@pytest.mark.spark
@pytest.mark.slow
def test_a_match_starts_from_recorded_classes_and_without_those_that_do_not_fit() -> None:
    recorded = record_classes()
    told = said("--conf", "spark.driver.extraJavaOptions=-Xlog:class+load=info:file=loaded.txt")
    assert "shared objects file (top)" in Path("loaded.txt").read_text()
    assert told.count("\n") == 1
    content = recorded.archive.read_bytes()
    for damaged in (b"", content[: len(content) // 2], bytes(4096) + content[4096:]):
        recorded.archive.write_bytes(damaged)
        assert said("-q") == ""
