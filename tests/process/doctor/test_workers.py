"""What a worker of Spark answers when it is asked what it is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from cepctl.process.doctor.checks import NEEDED, answer, worker_of
from cepctl.process.doctor.checks import spark as check

if TYPE_CHECKING:
    from cepctl.runners.spark.session import Session


def test_what_is_missing_is_named() -> None:
    assert answer((*NEEDED, "no_such_package"))[2] == ("no_such_package",)


@pytest.mark.spark
def test_a_worker_is_this_interpreter_and_has_what_it_needs(spark: Session) -> None:
    worker = worker_of("local[2]", ())
    assert (worker.executable, worker.missing) == (sys.executable, ())
    assert worker.python == sys.version.partition(" ")[0]


@pytest.mark.spark
def test_a_worker_that_lacks_a_package_is_a_failure(spark: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepctl.process.doctor.checks.NEEDED", ("no_such_package",))
    finding = check("local[2]", (), needed=True)
    assert finding.verdict == "failed"
    assert finding.told.endswith(", without no_such_package")
    assert f"install cepctl for {sys.executable}" in (finding.remedy or "")
