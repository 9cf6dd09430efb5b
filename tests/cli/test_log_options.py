"""Patterns and unmatched lines on the command line, with the sample log of a data node."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cepctl.cli import main

LOG = Path(__file__).parents[2] / "sample_data" / "daemon_logs" / "hadoop-hdfs-datanode-node05.log"
PATTERNS = """
[[pattern]]
event_type = "Report"
regex = 'containing (?P<reports>\\d+) storage report'
"""


def types_of(output: Path, *options: str) -> dict[str, int]:
    command = ["ingest", str(LOG), "-o", str(output), "--runner", "local", "--tz", "Europe/Berlin", *options]
    assert main(command) == 0
    counts = pq.read_table(output, columns=["event_type"]).column("event_type").value_counts().to_pylist()
    return {entry["values"]: entry["counts"] for entry in counts}


def test_lines_that_no_pattern_fits_are_counted_and_kept_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = LOG.read_text(encoding="utf-8").count("\n2026-") + 1
    without = types_of(tmp_path / "without")
    left_out = records - sum(without.values())
    assert left_out == 4
    assert f"note: {left_out} records skipped: no pattern fits the log record" in capsys.readouterr().err
    kept = types_of(tmp_path / "kept", "--keep-unmatched")
    assert kept == {**without, "LogLine": left_out}


def test_patterns_of_a_file_give_typed_attributes(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(PATTERNS, encoding="utf-8")
    counts = types_of(tmp_path / "events", "--patterns", str(tmp_path / "mine.toml"))
    assert counts["Report"] == 1
    events = pq.read_table(tmp_path / "events", columns=["event_type", "reports", "level", "lower", "upper"])
    (report,) = [row for row in events.to_pylist() if row["event_type"] == "Report"]
    assert (report["reports"], report["level"]) == (1, "INFO")
    assert report["lower"] == report["upper"] == 1_772_528_400_218


def test_a_wrong_pattern_ends_the_command_with_2_and_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(PATTERNS.replace("event_type", "event_typ"), encoding="utf-8")
    query = "PATTERN SEQ(Report a, BlockServe b)"
    assert main(["match", query, str(LOG), "--runner", "local", "--patterns", str(wrong)]) == 2
    assert (
        "wrong.toml:3: pattern 1: unknown key 'event_typ', did you mean 'event_type'?"
        in capsys.readouterr().err
    )
