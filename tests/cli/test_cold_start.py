"""A small log is answered at once on a machine where nothing is compiled yet, whatever the query."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[2] / "sample_data"
EVENTS = "SEQ(TaskStart a, CPU b, TaskFinish c, CPU d)"
WHERE = "WHERE a.task_id = c.task_id AND [node] AND b.value > 95 AND d.value <= 70 WITHIN 50 seconds"
QUERIES = {
    "any match": f"PATTERN {EVENTS} {WHERE}",
    "next match": f"PATTERN {EVENTS} {WHERE} STRATEGY skip_till_next_match",
    "contiguity": "PATTERN SEQ(CPU a, CPU b) WHERE [node] STRATEGY partition_contiguity WITHIN 12 seconds",
    "Kleene": "PATTERN SEQ(TaskStart a, CPU+ b[], TaskFinish c) WHERE a.task_id = c.task_id AND [node] "
    "AND b[i].value > 95 WITHIN 50 seconds",
    "negation": "PATTERN SEQ(TaskStart a, !CPU n, TaskFinish c) WHERE a.task_id = c.task_id AND [node] "
    "AND n.value > 95 WITHIN 50 seconds",
    "GROUP BY": f"PATTERN {EVENTS} {WHERE} GROUP BY a.task_id",
}
# Every day those that need the most kernels.
EVERYDAY = ("any match", "Kleene", "GROUP BY")
LONG_CONTIGUITY = QUERIES["contiguity"].replace("12 seconds", "30 seconds")
"""So much work on one clock that the process beside compiles dozens of kernels meanwhile."""
# What was compiled by this process itself; what a process beside it compiles keeps nobody waiting.
COUNTS_COMPILED = (
    "import sys; from cepctl.cli import main; code = main(sys.argv[1:]); "
    "from cepctl.process.doctor.warming import compiled_here; "
    "print(compiled_here(), file=sys.stderr); sys.exit(code)"
)


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's events with errors of their own, and with those of one clock."""
    folder = tmp_path_factory.mktemp("datasets")
    model = folder / "one-clock.toml"
    model.write_text(
        '[[rule]]\nsource = "*.jhist"\ninterval = { before = "0 s", after = "0 s" }\n'
        'clock = { name = "master", offset = "500 ms" }\n'
    )
    own, clocked, logs = str(folder / "own"), str(folder / "clocked"), str(SAMPLE / "logs")
    stated = ["--uncertainty", str(SAMPLE / "uncertainty.toml"), "--runner", "local"]
    for words in (
        ["ingest", logs, "-o", own, *stated, "--name", "cpu_user=CPU"],
        ["assign", own, "-o", clocked, "--uncertainty", str(model), "--runner", "local"],
    ):
        subprocess.run([sys.executable, "-m", "cepctl", *words], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("dataset", ["own", pytest.param("clocked", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "query",
    [pytest.param(each, marks=[] if each in EVERYDAY else pytest.mark.slow) for each in QUERIES],
)
def test_nothing_is_compiled_before_the_answer(
    query: str, dataset: str, datasets: Path, tmp_path: Path
) -> None:
    assert_answered_without_compiling(QUERIES[query], datasets / dataset, tmp_path)


@pytest.mark.slow
def test_nothing_is_compiled_before_an_answer_that_takes_long(datasets: Path, tmp_path: Path) -> None:
    assert_answered_without_compiling(LONG_CONTIGUITY, datasets / "clocked", tmp_path)


def assert_answered_without_compiling(query: str, dataset: Path, tmp_path: Path) -> None:
    match = ["match", query, str(dataset), "--runner", "local", "-q"]
    nothing_kept = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(
        [sys.executable, "-c", COUNTS_COMPILED, *match],
        env=nothing_kept, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert len(done.stdout.splitlines()) > 1
    assert done.stderr.splitlines()[-1] == "0"
