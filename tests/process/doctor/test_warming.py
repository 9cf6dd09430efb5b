"""Compiling the kernels before they are needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cepctl.engines.kernels.beside import MOST_BYTES, kernel_kept
from cepctl.errors import JobError
from cepctl.process.doctor import warming

# The compiled functions that Python calls, but for the small ones of estimates.
ENTRIES = {
    "confidence.chain.closed_form.sum_chains",
    "confidence.chain.closed_form.sum_chains_in_order",
    "pattern.difference_constraints._settle_rows",
    "confidence.needless_sums._first_alike",
    "confidence.needless_sums._fill",
    "confidence.occurrence.settled._write",
    "confidence.given.units.interleaved_as_asked",
    "confidence.given.one_distance.apart_as_asked",
    "confidence.given.one_distance.distance_probability",
    "confidence.given.one_distance.pair_probability",
    "pattern.difference_constraints._tighten",
    "search.kleene.cell_products.lengthen",
    "search.kleene.cell_products.count_tries",
    "confidence.sets_between.sum_sets",
    "search.search._extended",
    "confidence.gaps.tables._solve",
    "confidence.gaps.polynomials._solve",
    "confidence.gaps.distinct_gaps._first_ticks",
    "search.kleene.counts._company",
    "columns.joins._pairs",
    "confidence.given.series.series_pass",
    "confidence.quadrature.summation_rule",
    "columns.tick_masses._differences",
    "confidence.intervals.edges._reach",
    "confidence.occurrence.member_counts._count",
    "confidence.occurrence.occurrence._measure",
    "confidence.occurrence.room_unions._unite",
    "confidence.intervals.sums._sum_orders",
    "confidence.orders.sweep.sweep",
    "search.kleene.sequences._count",
    "event.member_numbers._join",
}

SAMPLES = Path(__file__).parents[3] / "sample_data"

PROGRAM = """
import resource
from cepctl.process.doctor.warming import warm_up
done = warm_up()
whose = resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF
print(done.compiled, *(resource.getrusage(each).ru_maxrss for each in whose), *done.reached)
"""
MOST_KILOBYTES = 700_000
"""What the largest process may take that compiles kernels; beside the one that starts it, below 1 GB."""


# The misses of one command line, which is run in the same process.
COMMAND = """
import sys
from cepctl.cli import main
assert main(sys.argv[1:]) == 0
from cepctl.process.doctor.warming import compiled_functions
print(sum(sum(each.stats.cache_misses.values()) for each in compiled_functions().values()))
"""


def told(program: str, cache: Path, *arguments: object) -> list[str]:
    """The words that a fresh process prints which keeps its kernels in `cache`."""
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


def test_what_one_process_has_no_room_for_the_next_one_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each runs one query here; that a process compiles nothing is not told twice."""
    parts = iter([(1, ["a int"], []), (3, ["b int"], ["a int", "c int"]), (4, [], ["b int"])])
    begun: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        begun.append(command[-1])
        return subprocess.CompletedProcess(command, 0, json.dumps(next(parts)), "")

    lines: list[str] = []
    monkeypatch.setattr(warming, "_runs", lambda: [None] * 4)
    monkeypatch.setattr("subprocess.run", run)
    done = warming.warm_up(lines.append)
    assert begun == ["0", "1", "3"]
    assert (done.compiled, done.found, done.reached) == (2, 1, frozenset("abc"))
    assert lines[1] == "compiling kernels: 25 %, 1 compiled so far"


def test_a_process_that_compiles_and_dies_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    died = subprocess.CompletedProcess([], -9, "", "")
    monkeypatch.setattr("subprocess.run", lambda *_, **__: died)
    with pytest.raises(JobError, match="the process that compiles kernels ended too early: exit code -9"):
        warming.warm_up()


def test_a_part_ends_where_its_process_holds_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []
    monkeypatch.setattr(warming, "_runs", lambda: [(number, None, None) for number in range(4)])
    monkeypatch.setattr(warming, "match_events", lambda number, *_: ran.append(number))
    for held, expected in ((0, [1, 2, 3]), (MOST_BYTES, [1])):
        ran.clear()
        monkeypatch.setattr(warming, "held_bytes", lambda held=held: held)
        assert warming.warm_part(1)[0] == expected[-1] + 1
        assert ran == expected


@pytest.mark.parametrize(("held", "reached"), [(MOST_BYTES + 1, 2), (MOST_BYTES, 3)])
def test_a_query_that_fills_its_process_is_run_again_by_the_next_one(
    held: int, reached: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is broken off as soon as one more kernel is kept, which the next process finds."""
    monkeypatch.setattr(warming, "_runs", lambda: [(number, None, None) for number in range(3)])
    monkeypatch.setattr(warming, "held_bytes", lambda: 0)

    def match(number: int, *_: object) -> None:
        if number == 2:
            monkeypatch.setattr(warming, "held_bytes", lambda: held)
            kernel_kept()

    monkeypatch.setattr(warming, "match_events", match)
    assert warming.warm_part(1)[0] == reached


@pytest.mark.slow
def test_the_first_match_finds_everything_compiled(tmp_path: Path) -> None:
    cache, events, rows = tmp_path / "cache", tmp_path / "events", tmp_path / "rows.csv"
    told(PROGRAM, cache)
    model = ("--uncertainty", SAMPLES / "uncertainty.toml", "--name", "cpu_user=CPU")
    told(COMMAND, cache, "ingest", SAMPLES / "logs", "-o", events, *model, "--runner", "local")
    query = f"@{SAMPLES / 'query.cep'}"
    assert told(COMMAND, cache, "match", query, events, "-o", rows, "--runner", "local") == ["0"]


@pytest.mark.slow
def test_a_second_process_finds_everything_compiled(tmp_path: Path) -> None:
    first, second = (told(PROGRAM, tmp_path) for _ in range(2))
    assert int(first[0]) > 0
    assert second[0] == "0"
    assert max(map(int, first[1:3])) < MOST_KILOBYTES * (1_000 if sys.platform == "darwin" else 1)
    assert sum(map(int, first[1:3])) < 1_000_000 * (1_000 if sys.platform == "darwin" else 1)
    reached = set(first[3:])
    assert {f"cepctl.engines.{entry}" for entry in ENTRIES} <= reached
