"""An installation without PySpark: the local runner works, and what needs Spark says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.runners.spark import session


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CEPCTL_RUNNER", raising=False)
    (tmp_path / "log.csv").write_text("event_type,lower,upper\nA,1,2\n")
    monkeypatch.setattr(session, "find_spec", lambda name: None)


def test_what_needs_spark_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "PATTERN A a", "log.csv", "--runner", "spark"]) == 4
    assert (
        "PySpark is not installed here; install it (pip install pyspark), or do without it: --runner local"
        in (capsys.readouterr().err)
    )


def test_the_local_runner_needs_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "PATTERN A a", "log.csv"]) == 0
    assert capsys.readouterr().out.count("\n") == 2


def test_the_doctor_names_it(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from cepctl.process.doctor import checks

    monkeypatch.setattr(checks, "java", lambda needed: checks.CheckFinding("Java", "ok", "17"))
    assert main(["doctor", "--runner", "spark"]) == 4
    assert "failed   Spark    PySpark is not installed here" in capsys.readouterr().out
    assert main(["doctor"]) == 0, "what is small needs none"
    assert "warning  Spark    PySpark is not installed here" in capsys.readouterr().out
