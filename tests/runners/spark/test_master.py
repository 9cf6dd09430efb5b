"""A master that cannot be is told at once; its form is looked at before anything is read."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.errors import JobError, UsageError
from cepctl.runners.spark.settings import require_master, require_reachable


@pytest.fixture
def port() -> Iterator[int]:
    """A port of this machine that takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed() -> int:
    """A port of this machine where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        number: int = server.getsockname()[1]
    return number


@pytest.mark.parametrize(
    "master",
    ["local", "local[3]", "local[*]", "local[*, 2]", "local-cluster[2,1,1024]", "spark://h:7077",
     "spark://[::1]:7077", "spark://a:1,b.example.org:2", "yarn", "k8s://https://h:6443", "k8s://h"],
)  # fmt: skip
def test_every_form_that_spark_knows_is_taken(master: str) -> None:
    assert require_master(master) == master


@pytest.mark.parametrize(
    "master",
    ["", "locl", "local[0]", "local[two]", "local[2", "spark://", "spark://host", "spark:host:7077",
     "spark://h:70770", "http://h:8080", "yarn-client", "h:7077", "spark://h:7077,"],
)  # fmt: skip
def test_another_form_is_refused(master: str) -> None:
    with pytest.raises(UsageError, match="is not the URL of a Spark master; write local"):
        require_master(master)


def test_one_master_that_answers_is_enough(port: int, closed: int) -> None:
    require_reachable(f"spark://127.0.0.1:{closed},127.0.0.1:{port}")
    require_reachable("local[*]")
    require_reachable("yarn")


def test_a_master_where_nobody_listens_is_named(closed: int) -> None:
    with pytest.raises(
        JobError, match=rf"spark://127.0.0.1:{closed} \(127.0.0.1:{closed}: Connection refused\)"
    ):
        require_reachable(f"spark://127.0.0.1:{closed}")
    with pytest.raises(JobError, match=r"nowhere\.invalid:7077: "):
        require_reachable("spark://nowhere.invalid:7077")


def test_a_command_does_not_wait_for_a_master_that_is_not_there(
    closed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Spark would try for two minutes; no Java is started here."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cepctl.runners.spark.session._gateway", None)
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)
    Path("log.csv").write_text("event_type,time\nA,1\n")
    for words in (["ingest", "log.csv", "-o", "events"], ["match", "PATTERN SEQ(A a)", "log.csv"]):
        master = f"spark://127.0.0.1:{closed}"
        assert main([*words, "--runner", "spark", "--master", master, "--quiet"]) == 4
        assert capsys.readouterr().err == (
            f"error: cannot reach the Spark master {master} (127.0.0.1:{closed}: Connection refused); "
            "is it running there?\n"
        )
        assert main([*words, "--runner", "spark", "--master", "spark//h:7077"]) == 2
        error, hint = capsys.readouterr().err.splitlines()
        assert error.startswith(
            "error: --master 'spark//h:7077' is not the URL of a Spark master; write local"
        )
        assert hint == f"hint: try 'cepctl {words[0]} --help'"
