"""The bench runs, and what it measures is right: a wrong result is told, never timed in silence."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "scripts" / "benchmarks"


@pytest.fixture(autouse=True)
def modules_of_the_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def bench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(BENCHMARKS), "--quick", "-o", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def rows_of(folder: Path, part: str) -> list[dict[str, Any]]:
    parts = json.loads((folder / "bench.json").read_text(encoding="utf-8"))["parts"]
    assert parts[part]["wrong"] is None
    rows: list[dict[str, Any]] = parts[part]["rows"]
    return rows


def test_a_small_bench_checks_every_result_and_writes_its_tables(tmp_path: Path) -> None:
    done = bench(tmp_path, "--shrink", "50", "--only", "any-match", "--only", "engines")
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path, "any-match")
    assert [(row["case"], row["count"], row["checked"]) for row in rows[:3]] == [
        ("3 components, d = 0", 1460, "count and sum"),
        ("3 components, d = 10", 3198, "count and sum"),
        ("3 components, d = 50", 15610, "count and sum"),
    ]
    assert [row["checked"] for row in rows[3:]] == ["200 sums"] * 3
    page = (tmp_path / "bench.md").read_text(encoding="utf-8")
    listed = [row["case"] for part in ("any-match", "engines") for row in rows_of(tmp_path, part)]
    assert page.count("\n| 3 components, ") == sum(case.startswith("3 components, ") for case in listed) > 3
    assert "- processor: " in page


@pytest.mark.slow
def test_logs_of_clocks_are_read_whole_and_their_events_are_matched_in_turn(tmp_path: Path) -> None:
    done = bench(tmp_path, "--shrink", "50", "--only", "clock-logs")
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path, "clock-logs")
    assert [(row["case"], row["count"], row["checked"]) for row in rows] == [
        ("tracking.log, 10 hosts with 200 rows", 2_000, "pieces"),
        ("tracking.log, 2 hosts with 1,000 rows", 2_000, "pieces"),
        ("rule and match, constant clocks", 2_000, ""),
        ("rule and match, recorded", 2_000, ""),
        ("rule and match, recorded, with sd", 2_000, ""),
    ]
    # Every pair is within both bounds, so both models have all of them.
    assert all("1,000 matches" in row["note"] for row in rows[2:])


def test_the_page_of_tables_keeps_the_sections_of_parts_that_did_not_run(tmp_path: Path) -> None:
    import tables
    from results import Part, Row

    page = tmp_path / "tables.md"
    page.write_text("# Tables\n\nHead.\n\n## One\n\nold\n\n## Two\n\nkept\n", encoding="utf-8")
    one = Part("one", "One", lambda setup: iter(()))
    tables.put_into(
        page, {"processor": "a fast one", "load before": "0.3"}, [(one, [Row("d = 1", ratio=2.0)], None)]
    )
    assert page.read_text(encoding="utf-8") == (
        "# Tables\n\nHead.\n\n"
        "## One\n\n`scripts/bench --only one`\n\nMeasured on: processor a fast one; load before 0.3.\n\n"
        "| case | ratio |\n| --- | --- |\n| d = 1 | 2 |\n\n"
        "## Two\n\nkept\n"
    )


def test_a_peer_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import alternatives
    from results import Setup

    monkeypatch.setattr(alternatives, "has", lambda package: package != "duckdb")
    rows = list(alternatives.sql(Setup(tmp_path, cores=1, repeats=1)))
    assert {row.note for row in rows} == {"left out: duckdb is not installed"}


def test_flink_has_a_python_of_its_own_or_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import flink
    from results import Setup

    monkeypatch.delenv(flink.VARIABLE, raising=False)
    (row,) = flink.flink(Setup(tmp_path, cores=1, repeats=1))
    assert row.note.startswith("left out: apache-flink, in a Python that FLINK_PYTHON names")


def test_a_large_dataset_is_one_as_ingest_writes_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import large

    from cepctl.cli import main
    from cepctl.matching.inputs import open_events

    monkeypatch.setattr(large, "PART", 3_000)
    written = large.large_dataset(tmp_path, 7_000, 10, keyed=True)
    whole = tmp_path / "whole"
    pq.write_table(large._events(0, 7_000, 10, keyed=True), tmp_path / "plain.parquet")
    assert main(["ingest", str(tmp_path / "plain.parquet"), "-o", str(whole), "--runner", "local", "-q"]) == 0
    with open_events([str(written)]) as pieces, open_events([str(whole)]) as expected:
        assert len(pieces.datasets[0].parts) == 3
        assert pieces.schema == expected.schema
        assert pieces.read().drop_columns(["source"]).equals(expected.read().drop_columns(["source"]))


def test_a_missing_match_and_a_wrong_confidence_are_wrong_results() -> None:
    import pyarrow as pa
    from judge import check_periodic
    from results import CheckFailed
    from workloads import ONE_PERCENT, appendix_c

    from cepctl.engines.event.match import match_events

    matches = match_events(ONE_PERCENT.plan, appendix_c(3000, 10))
    assert check_periodic(matches, ONE_PERCENT, 10, 3000) == "count and sum"
    with pytest.raises(CheckFailed, match="found 29, expected 30"):
        check_periodic(matches.slice(1), ONE_PERCENT, 10, 3000)
    column = matches.column_names.index("confidence")
    ones = matches.set_column(column, "confidence", pa.array([1.0] * 30))
    with pytest.raises(CheckFailed, match="found 30"):
        check_periodic(ones, ONE_PERCENT, 10, 3000)


def test_the_plain_sums_are_those_of_the_paper() -> None:
    """ZDI10, Fig. 1, with a window of 4."""
    from judge import plain_confidence

    a1, b3, c2, c4 = (
        {"lower": lower, "upper": upper, "pmf": None} for lower, upper in ((1, 5), (3, 5), (3, 5), (4, 8))
    )
    assert plain_confidence([a1, b3, c2], 4) == pytest.approx(25 / 225)
    assert plain_confidence([a1, b3, c4], 4) == pytest.approx(27 / 225)


def test_ragged_events_are_a_valid_event_table() -> None:
    from workloads import ragged

    events = ragged(3000, 50).to_pylist()
    histograms = [event for event in events if event["pmf"]]
    assert len(histograms) > 300
    for event in histograms:
        buckets = event["pmf"]
        assert buckets[0]["lo"] == event["lower"]
        assert buckets[-1]["hi"] == event["upper"]
        assert all(a["hi"] + 1 == b["lo"] for a, b in itertools.pairwise(buckets))
        assert sum(bucket["p"] for bucket in buckets) == pytest.approx(1)
    assert [event["lower"] for event in events] == sorted(event["lower"] for event in events)


@pytest.mark.slow
def test_rows_are_written_beside_a_script_of_polars(tmp_path: Path) -> None:
    done = bench(tmp_path, "--shrink", "50", "--only", "rows")
    assert done.returncode == 0, done.stderr
    rows = [row for row in rows_of(tmp_path, "rows") if row["checked"] == "count"]
    assert [row["count"] for row in rows] == [3198] * 4 + [15610] * 4
    assert all("script " in row["note"] for row in rows)
