"""The file of figures: read back by Prometheus' own parser."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from cepctl.cli import main
from cepctl.cli.output.metrics import RunFigures, metrics_text

QUERY = "PATTERN SEQ(A a, B b)"


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    file = tmp_path / "log.csv"
    file.write_text("event_type,time\nA,1\nB,2\nB,\nB,4\n")
    return file


def parsed(text: str) -> dict[str, float]:
    """The value of each metric; all are gauges with one sample, described, of one task."""
    families = list(text_string_to_metric_families(text))
    assert all(family.type == "gauge" and family.documentation for family in families)
    assert len({tuple(sample.labels.items()) for family in families for sample in family.samples}) == 1
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_a_match_leaves_its_figures() -> None:
    before = time.time()
    assert main(["match", QUERY, "log.csv", "--metrics", "nightly.prom"]) == 0
    text = Path("nightly.prom").read_text()
    figures = parsed(text)
    assert 'task="nightly"' in text
    assert (figures["cepctl_events"], figures["cepctl_matches"], figures["cepctl_rejects"]) == (3, 2, 1)
    assert figures["cepctl_run_seconds"] > 0
    assert before <= figures["cepctl_last_success_timestamp_seconds"] <= time.time()
    assert not figures.keys() & {"cepctl_late_events", "cepctl_watermark_timestamp_seconds"}


def test_an_ingest_leaves_its_figures() -> None:
    assert main(["ingest", "log.csv", "-o", "events", "--metrics", "ingest.prom"]) == 0
    figures = parsed(Path("ingest.prom").read_text())
    assert (figures["cepctl_events"], figures["cepctl_rejects"]) == (3, 1)
    assert "cepctl_matches" not in figures


def test_a_run_that_fails_leaves_the_figures_of_the_last_success() -> None:
    assert main(["match", QUERY, "log.csv", "--metrics", "nightly.prom"]) == 0
    kept = Path("nightly.prom").read_text()
    assert main(["match", QUERY, "missing.csv", "--metrics", "nightly.prom"]) == 3
    assert Path("nightly.prom").read_text() == kept


def test_the_collector_never_sees_an_unfinished_file(monkeypatch: pytest.MonkeyPatch) -> None:
    renamed = []

    def seen(self: Path, target: Path) -> Path:
        if target.suffix == ".prom":
            renamed.append(self.name)
            assert parsed(self.read_text())
        os.rename(self, target)  # noqa: PTH104
        return target

    monkeypatch.setattr(Path, "replace", seen)
    assert main(["match", QUERY, "log.csv", "--metrics", "nightly.prom"]) == 0
    assert len(renamed) == 1
    assert not renamed[0].endswith(".prom")


def test_figures_of_a_run_with_state_and_any_name_of_a_task() -> None:
    figures = RunFigures(7, 0, 0.25, matches=0, late=2, watermark=1772528400.5)
    text = metrics_text(figures, 'a "quoted"\\ \nname', 1772528460.0)
    (family, *_) = text_string_to_metric_families(text)
    assert family.samples[0].labels == {"task": 'a "quoted"\\ \nname'}
    assert parsed(text)["cepctl_late_events"] == 2
    assert parsed(text)["cepctl_watermark_timestamp_seconds"] == 1772528400.5


def test_a_file_that_cannot_be_written_is_refused_before_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", QUERY, "log.csv", "--metrics", "no/such.prom"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "error: cannot write no/such.prom: there is no directory no",
        "hint: try 'cepctl match --help'",
    ]
