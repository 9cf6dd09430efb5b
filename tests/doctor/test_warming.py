"""Compiling the kernels before they are needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# The compiled functions that Python calls, but for the small ones of estimates.
ENTRIES = {
    "confidence.chain.closed_form": "sum_chains",
    "confidence.chain.time_range": "_first_ticks",
    "confidence.moved_matches": "_first_alike",
    "pattern.difference_constraints": "_tighten",
    "kleene.cell_products": "lengthen",
    "kleene.trials": "count_tries",
    "confidence.sets.sums": "sum_sets",
    "enumeration.search": "_extended",
    "confidence.gaps.tables": "_solve",
    "confidence.gaps.polynomials": "_solve",
    "confidence.gaps.time_range": "_first_ticks",
    "kleene.counts": "_company",
    "columns.range_join": "_pairs",
    "given.weighted_sums": "_listed",
    "given.series_pass": "series_pass",
    "confidence.quadrature": "summation_rule",
    "columns.tick_differences": "_differences",
    "intervals.reach": "_reach",
    "occurrence.member_counts": "_count",
    "occurrence.moved_groups": "_first_alike",
    "occurrence.occurrence": "_measure",
    "occurrence.room_unions": "_unite",
    "intervals.orders": "_sum_orders",
    "intervals.few_endpoints": "_sum_rows",
    "intervals.rival_sums": "solve_with_absences",
}

SAMPLES = Path(__file__).parents[2] / "sample_data"

PROGRAM = """
from cepctl.doctor.warming import compiled_functions, warm_up
print(warm_up().compiled)
for name, each in compiled_functions().items():
    if each.signatures:
        print(name)
"""


# The misses of one command line, which is run in the same process.
COMMAND = """
import sys
from cepctl.cli import main
assert main(sys.argv[1:]) == 0
from cepctl.doctor.warming import compiled_functions
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
    reached = set(first[1:])
    assert {f"cepctl.engines.{module}.{name}" for module, name in ENTRIES.items()} <= reached
