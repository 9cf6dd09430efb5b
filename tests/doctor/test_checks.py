"""What the doctor finds, and what it advises."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.doctor import checks
from cepctl.spark import java


@pytest.mark.parametrize(("needed", "verdict"), [(0, "ok"), (10**18, "warning")])
def test_little_room_is_a_warning_with_a_remedy(
    needed: int, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "LEAST_DISK", needed)
    monkeypatch.setattr(checks, "LEAST_MEMORY", needed)
    for finding in (checks.disk(), checks.memory()):
        assert finding.verdict == verdict
        assert (finding.remedy is None) == (verdict == "ok")


def test_kernels_are_counted_where_they_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    cold = checks.kernel_cache()
    (folder,) = tmp_path.iterdir()
    assert (cold.verdict, cold.told) == ("warning", f"0 kept in {folder}")
    assert "cepctl doctor --warm" in (cold.remedy or "")
    (folder / "engines_1").mkdir()
    (folder / "engines_1" / "chain.nbc").touch()
    assert (checks.kernel_cache().verdict, checks.kernel_cache().told) == ("ok", f"1 kept in {folder}")


def test_without_java_spark_is_not_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(java, "_wheel_home", lambda: None)
    found = {each.what: each for each in checks.findings("spark", "local[1]", ())}
    assert found["Java"].verdict == "failed"
    assert "apt-get install" in (found["Java"].remedy or "")
    assert "Spark" not in found


def test_without_spark_java_is_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert {each.what for each in checks.findings("local", "local[1]", ())} == {
        *("Python", "disk", "memory", "kernels"),
    }
