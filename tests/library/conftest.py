"""Tests of the library run as in a program of their own, whatever other tests have started or set."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _a_program_of_its_own(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    if "spark" not in request.fixturenames and request.node.get_closest_marker("spark") is None:
        monkeypatch.setattr("cepctl.library.execution.session_runs", lambda: False)
