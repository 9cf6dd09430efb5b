"""Grouping accuracy on labelled logs, where the environment variable names a folder of them."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "measure_templates.py"


@pytest.mark.skipif(
    "CEPCTL_LABELLED_LOGS" not in os.environ, reason="CEPCTL_LABELLED_LOGS names no labelled logs"
)
def test_labelled_logs_are_grouped_and_timed_as_they_are_labelled(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.util.spec_from_file_location("measure_templates", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "_REPEATED_BYTES", 1 << 20)
    assert module.main() == 0
    *_, grouping, times = capsys.readouterr().out.split()
    assert float(grouping) >= 0.9
    assert float(times) >= 0.995
