"""The command of scripts/fuzz: what it finds, keeps, prints and returns."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.fuzzing.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
# Processes that are started anew see the fault, too, since they run this file again.
PLANTED = """
import sys
import pyarrow.compute as pc
from cepctl.engines.event.match import match_events
from tests.fuzzing import verdicts

def deaf(plan, table, options=None):
    return match_events(plan, table.filter(pc.not_equal(table["event_type"], "N")), options)

verdicts.match_events = deaf
if __name__ == "__main__":
    from tests.fuzzing.__main__ import main
    sys.exit(main())
"""


def started(folder: Path, *arguments: str, program: Path | None = None) -> subprocess.Popen[str]:
    command = ["-m", "tests.fuzzing"] if program is None else [str(program)]
    return subprocess.Popen(
        [sys.executable, *command, "--processes", "1", "-o", str(folder), *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Ctrl-C is for all processes of a group: that of the tests has to live on.
        start_new_session=True,
        # Tests that run in the background ignore it, and so would what they start.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def test_a_planted_fault_is_found_made_smaller_and_kept(tmp_path: Path) -> None:
    program = tmp_path / "planted.py"
    program.write_text(PLANTED, encoding="utf-8")
    asked = ("--only", "negation,any-match,binding-order", "--seed", "6", "--cases", "2")
    process = started(tmp_path / "kept", *asked, program=program)
    told, errors = process.communicate()
    assert (process.returncode, errors) == (1, "")
    last = told.splitlines()[-1]
    assert last.endswith(f" failed, kept in {tmp_path}/kept/6")
    kept = sorted((tmp_path / "kept" / "6").iterdir())
    assert len(kept) == int(last.split()[0]) > 0
    lines = [(each / "events.csv").read_text(encoding="utf-8").count("\n") for each in kept]
    assert min(lines) <= 3  # a header, an event, and the rival that is not heard
    assert {file.name for file in kept[0].iterdir()} == {"answers.txt", "events.csv", "query.txt"}
    assert (kept[0] / "answers.txt").read_text(encoding="utf-8").strip() in told


def test_cases_that_agree_are_counted(tmp_path: Path) -> None:
    process = started(tmp_path, "--seed", "1", "--cases", "3", "--only", "any-match,threshold")
    told, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    first, *_, counts, last = told.splitlines()
    assert (first, last) == ("seed 1, 1 processes", "no disagreement")
    assert counts.startswith("3 cases in ")
    assert not list(tmp_path.iterdir())


def test_an_interrupt_ends_with_the_summary(tmp_path: Path) -> None:
    process = started(tmp_path, "--seconds", "600", "--only", "any-match")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("seed ")
    os.killpg(process.pid, signal.SIGINT)
    told, errors = process.communicate(timeout=60)
    assert errors == ""
    assert told.startswith("interrupted\n")
    assert " cases in " in told.splitlines()[-2]


@pytest.mark.parametrize("asked", ["--only negations", "--seed ../up", "--only order,next-match"])
def test_what_cannot_be_asked_is_refused(asked: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(asked.split())


def test_the_names_of_constructs_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    told = capsys.readouterr().out
    assert {"negation", "intervals", "threshold"} <= {line.split()[0] for line in told.splitlines()}
