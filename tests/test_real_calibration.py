"""Real logs under blurs: known Brier scores, and times that are written as they happened, step by step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cepctl.cli import main

pytestmark = pytest.mark.realdata

STEP = "concept:name,lifecycle:transition"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ingested(log: Path) -> None:
    if not log.exists():
        pytest.skip(f"CEPCTL_REALDATA has no {log.name}")
    assert main(["ingest", str(log), "-o", "events", "--runner", "local", "--quiet"]) == 0


def calibrated(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["calibrate", *words, "--format", "json", "--quiet"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_loan_applications(real_logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """BPI Challenge 2012.  Of two events of one day either is first; finer errors favour what is usual."""
    ingested(real_logs / "xes" / "bpic2012.xes.gz")
    asked = ("--pairs", "events", "--step", STEP, "--part", "1/2")
    by_day = calibrated(capsys, *asked, "--coarsen", "1 day")
    assert by_day["brier"] == pytest.approx(0.25, abs=1e-4)
    assert (by_day["rows"], by_day["tied"], by_day["open"]) == (2_273_656, 8_732, 535_046)
    assert by_day["worst"] == pytest.approx(0.046, abs=0.001)
    minute = calibrated(capsys, *asked, "--jitter", "60 s")
    assert minute["brier"] == pytest.approx(0.231, abs=0.001)
    assert minute["worst"] > 0.3
    seconds = calibrated(capsys, *asked, "--jitter", "5 s")
    assert seconds["brier"] == pytest.approx(0.235, abs=0.001)
    assert by_day["impossible_happened"] == minute["impossible_happened"] == 0


def test_a_submission_comes_before_its_part(real_logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A system that writes A_SUBMITTED before A_PARTLYSUBMITTED each time; an even error says one half."""
    ingested(real_logs / "xes" / "bpic2012.xes.gz")
    query = "PATTERN SEQ(A_SUBMITTED a, A_PARTLYSUBMITTED b) WHERE [case_id]"
    found = calibrated(capsys, query, "events", "--coarsen", "1 day", "--by", "case_id")
    assert (found["open"], found["happened"]) == (13_087 - found["certain"] - found["tied"], 1.0)
    assert found["brier"] == pytest.approx(0.25, abs=1e-6)
    assert found["deciles"][4]["low"] > 0.999
