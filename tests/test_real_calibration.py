"""Real logs under blurs: known Brier scores, and times that are written as they happened, step by step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cepctl.cli import main
from tests.real_cases import first_cases

pytestmark = pytest.mark.realdata

STEP = "concept:name,lifecycle:transition"
LOANS = "bpic2012.xes.gz"
ALL = 13_087
FEW = 1_500


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ingested(log: Path, cases: int | None = None) -> None:
    log = first_cases(log, cases, Path())
    assert main(["ingest", str(log), "-o", "events", "--runner", "local", "--quiet"]) == 0


def calibrated(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["calibrate", *words, "--format", "json", "--quiet"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("cases", "pairs", "brier_of_a_minute", "brier_of_seconds"),
    [
        (FEW, (262_583, 1_045, 60_834), 0.228, 0.240),
        pytest.param(ALL, (2_273_656, 8_732, 535_046), 0.231, 0.235, marks=pytest.mark.slow),
    ],
)
def test_loan_applications(
    cases: int,
    pairs: tuple[int, int, int],
    brier_of_a_minute: float,
    brier_of_seconds: float,
    real_logs: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """BPI Challenge 2012.  Of two events of one day either is first; finer errors favour what is usual."""
    ingested(real_logs / "xes" / LOANS, cases)
    asked = ("--pairs", "events", "--step", STEP, "--part", "1/2")
    by_day = calibrated(capsys, *asked, "--coarsen", "1 day")
    assert by_day["brier"] == pytest.approx(0.25, abs=1e-4)
    assert (by_day["rows"], by_day["tied"], by_day["open"]) == pairs
    assert by_day["worst"] == pytest.approx(0.046, abs=0.001)
    minute = calibrated(capsys, *asked, "--jitter", "60 s")
    assert minute["brier"] == pytest.approx(brier_of_a_minute, abs=0.001)
    assert minute["worst"] > 0.3
    seconds = calibrated(capsys, *asked, "--jitter", "5 s")
    assert seconds["brier"] == pytest.approx(brier_of_seconds, abs=0.001)
    assert by_day["impossible_happened"] == minute["impossible_happened"] == 0


@pytest.mark.parametrize(("cases", "least"), [(FEW, 0.997), pytest.param(ALL, 0.999, marks=pytest.mark.slow)])
def test_a_submission_comes_before_its_part(
    cases: int, least: float, real_logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A system that writes A_SUBMITTED before A_PARTLYSUBMITTED each time; an even error says one half."""
    ingested(real_logs / "xes" / LOANS, cases)
    query = "PATTERN SEQ(A_SUBMITTED a, A_PARTLYSUBMITTED b) WHERE [case_id]"
    found = calibrated(capsys, query, "events", "--coarsen", "1 day", "--by", "case_id")
    assert (found["open"], found["happened"]) == (cases - found["certain"] - found["tied"], 1.0)
    assert found["brier"] == pytest.approx(0.25, abs=1e-6)
    assert found["deciles"][4]["low"] > least


def learned(*words: str) -> str:
    """A law of the first half of the keys, every second one, in a file."""
    assert main(["learn", *words, "--part", "0/2", "-o", "laws.toml", "--quiet"]) == 0
    return "laws.toml"


@pytest.mark.slow
def test_what_twenty_applications_teach_tells_the_orders_of_others(
    real_logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ingested(real_logs / "xes" / LOANS)
    asked = ("events", "--by", "case_id", "--step", STEP, "--jitter", "5 s")
    law = learned(*asked, "--max-keys", "20")
    found = calibrated(capsys, "--pairs", *asked, "--part", "1/80", "--laws", law)
    assert found["lawless"]["brier"] > 0.2
    assert found["brier"] < 0.011
    assert (found["impossible_happened"], found["beyond"]) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("log", "blur", "brier", "worst"),
    [
        ("receipt", "--coarsen 1 day", 0.064, 0.06),
        ("receipt", "--jitter 60 s", 0.026, 0.06),
        ("helpdesk", "--coarsen 1 day", 0.0145, 0.06),
        ("helpdesk", "--jitter 60 s", 0.0145, 0.06),
        ("SEPSIS", "--coarsen 1 day", 0.092, 0.06),
        ("SEPSIS", "--jitter 60 s", 0.041, 0.06),
        ("SEPSIS", "--jitter 600 s", 0.061, 0.06),
        ("Billing", "--coarsen 1 day", 0.082, 0.06),
        ("Billing", "--jitter 60 s", 0.042, 0.06),
        ("permit", "--coarsen 1 day", 0.065, 0.06),
        ("permit", "--jitter 60 s", 0.013, 0.06),
        ("permit", "--jitter 600 s", 0.037, 0.06),
        ("bpic2013_incidents", "--coarsen 1 day", 0.17, 0.09),
        ("bpic2013_incidents", "--jitter 60 s", 0.034, 0.06),
    ],
)
def test_every_second_key_teaches_the_orders_of_the_others(
    log: str, blur: str, brier: float, worst: float, real_logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Steps of logs that have no lifecycle are activities."""
    files = sorted((real_logs / "xes").glob(f"*{log}*.xes*"))
    ingested(files[0] if files else real_logs / "xes" / f"{log}.xes.gz")
    step = STEP if log in ("receipt", "bpic2013_incidents") else "concept:name"
    asked = ("events", "--by", "case_id", "--step", step, *blur.split(" ", 1))
    found = calibrated(capsys, "--pairs", *asked, "--part", "1/2", "--laws", learned(*asked))
    assert found["brier"] < min(brier, found["lawless"]["brier"] / 2)
    assert (found["worst"] or 0.0) < worst
    assert found["impossible_happened"] == 0
