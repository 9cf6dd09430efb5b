"""No output overwrites what is read, nor another output: told before any work is done."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cepctl.cli import main

LOG = "event_id,event_type,lower,upper\na1,A,1,5\nb3,B,3,5\n"
QUERY = "PATTERN SEQ(A a, B b) WITHIN 4 ticks"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with logs, a query and a model, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.csv").write_text(LOG)
    (tmp_path / "query.cep").write_text(QUERY)
    (tmp_path / "model.toml").write_text("rule = [{ interval = { before = '2 ms', after = '2 ms' } }]\n")
    return tmp_path


def files(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


INGEST = ["ingest", "logs/a.csv", "-o", "events"]
MATCH = ["match", QUERY, "logs/a.csv"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([*INGEST, "--rejects", "logs/../logs/a.csv"], "--rejects would overwrite the input logs/a.csv"),
        ([*INGEST, "--report", "linked.csv"], "--report would overwrite the input logs/a.csv"),
        ([*INGEST, "--metrics", "twin.csv"], "--metrics would overwrite the input logs/a.csv"),
        (["ingest", "logs", "-o", "logs", "--overwrite"], "-o would overwrite the input logs"),
        (["ingest", "logs/a.csv", "-o", "logs", "--overwrite"], "-o would overwrite the input logs/a"),
        (["ingest", "logs", "-o", "events", "--rejects", "logs/a.csv"], "a.csv, which is read as an"),
        (
            ["ingest", "l*s/*.csv", "-o", "events", "--rejects", "twin.csv"],
            "a.csv, which is read as an input",
        ),
        (
            [*INGEST, "--rejects", "x", "--report", "./x"],
            "--rejects and --report would overwrite",
        ),
        ([*INGEST, "--rejects", "events/x"], "-o and --rejects would overwrite one another"),
        (
            [*INGEST, "--uncertainty", "model.toml", "--rejects", "model.toml"],
            "the uncertainty model, model",
        ),
        ([*MATCH, "-o", "logs/a.csv"], "-o would overwrite the input logs/a.csv; name another output"),
        ([*MATCH, "-o", "x", "--metrics", "x"], "-o and --metrics would overwrite one another"),
        (["match", "@query.cep", "logs", "-o", "query.cep"], "-o would overwrite the query, query.cep"),
        (["match", "-f", "query.cep", "logs", "-o", "query.cep"], "-o would overwrite the query, query.cep"),
        ([*MATCH, "--state", "s", "-o", "out", "--late", "logs/a.csv"], "--late would overwrite the input"),
        (["match", "--state", "s", "-o", "logs", QUERY, "logs"], "-o would overwrite the input logs"),
        (["match", "--state", "s", "-o", "logs", QUERY, "logs/a.csv"], "-o would overwrite the input logs/a"),
        (["report", QUERY, "logs/a.csv", "-o", "logs/a.csv"], "-o would overwrite the input"),
        (["inspect", "logs/a.csv", "--write-model", "logs/a.csv"], "--write-model would overwrite the input"),
    ],
)
def test_an_output_that_would_overwrite_something_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    (place / "linked.csv").symlink_to("logs/a.csv")
    os.link(place / "logs" / "a.csv", place / "twin.csv")
    before = files(place)
    assert main(words) == 2
    assert told in capsys.readouterr().err
    assert files(place) == before


def test_nothing_is_written_into_a_dataset_that_is_read(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*INGEST, "--quiet"]) == 0
    for output in ("events/part-00000.parquet", "events/rows.parquet"):
        assert main(["match", QUERY, "events", "-o", output]) == 2
        assert "-o would " in capsys.readouterr().err
    assert sorted(path.name for path in (place / "events").iterdir()) == ["_SUCCESS", "part-00000.parquet"]


def test_a_new_file_among_the_logs_and_a_device_are_no_inputs(place: Path) -> None:
    assert main(["ingest", "logs", "-o", "logs/events", "--rejects", "logs/bad.jsonl", "--quiet"]) == 0
    reader, terminal = os.openpty()  # nothing can be put in its place, even where the program is wrong
    device = os.ttyname(terminal)
    assert main(["match", QUERY, "logs/events", "-o", device, "--metrics", device, "--quiet"]) == 0
    assert os.read(reader, 11) == b"confidence,"
    os.close(reader)
    os.close(terminal)
    assert main(["match", QUERY, "logs/events", "-o", "logs/rows.csv", "--quiet"]) == 0
    assert main(["match", QUERY, "logs/events", "-o", "logs/rows.csv", "--quiet"]) == 0


def test_pipes_are_not_looked_through_for_outputs(place: Path) -> None:
    (place / "rows.csv").write_text("old")
    query, program = shlex.quote(QUERY), f"{shlex.quote(sys.executable)} -m cepctl"
    words = f"{program} match -o rows.csv -q {query} <(cat logs/a.csv)"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run(["bash", "-c", words], cwd=place, env=environment, check=True, timeout=120)
    assert (place / "rows.csv").read_text().count("\n") == 2


def test_a_dataset_is_still_replaced_by_itself_assigned_anew(place: Path) -> None:
    """It is read whole before the new one takes its place at once."""
    assert main([*INGEST, "--quiet"]) == 0
    again = ["assign", "events", "-o", "events", "--overwrite", "--uncertainty", "model.toml", "--quiet"]
    assert main(again) == 0
