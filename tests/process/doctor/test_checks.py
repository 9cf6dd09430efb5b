"""What the doctor finds, and what it advises."""

from __future__ import annotations

from pathlib import Path

import pytest
from numba.core.registry import cpu_target

from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.kernels.files import packed, remove_unusable_kernels
from cepctl.engines.kernels.keys import any_processor, key_of
from cepctl.process.doctor import checks
from cepctl.runners.spark import java


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
    (folder / "chain.sums-1.kernel").write_bytes(packed("key", b"code"))
    others = f"1 kept in {folder} (1 for other machines or versions)"
    assert (checks.kernel_cache().verdict, checks.kernel_cache().told) == ("warning", others)
    processor = cpu_target.target_context.codegen().magic_tuple()
    for number, each in enumerate((processor, processor, any_processor(processor))):
        key = key_of(tick_count.dispatcher(), (), each)
        (folder / f"chain.sums-{number}.kernel").write_bytes(packed(key, b"code"))
    usable = f"3 kept in {folder} (1 for any processor of the platform, 2 for this processor)"
    assert (checks.kernel_cache().verdict, checks.kernel_cache().told) == ("ok", usable)


def test_damaged_kernels_are_named_and_warming_removes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert checks.kernel_cache().verdict == "warning"
    (folder,) = tmp_path.iterdir()
    (folder / "whole-1.kernel").write_bytes(packed("key", b"code"))
    for number in range(5):
        (folder / f"torn-{number}.kernel").write_bytes(packed("key", b"code")[:-1])
    found = checks.kernel_cache()
    assert found.verdict == "warning"
    assert found.told == (
        f"1 kept in {folder} (1 for other machines or versions); torn-0.kernel is damaged; "
        "torn-1.kernel is damaged; torn-2.kernel is damaged; 2 more are not used either"
    )
    assert found.remedy == "cepctl doctor --warm removes and recompiles them"
    remove_unusable_kernels()
    assert "is damaged" not in checks.kernel_cache().told


def test_without_java_spark_is_not_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(java, "_wheel_home", lambda: None)
    found = {each.what: each for each in checks.findings("local[1]", (), java_too=True, needed=True)}
    assert found["Java"].verdict == "failed"
    assert "apt-get install" in (found["Java"].remedy or "")
    assert "Spark" not in found


def test_without_spark_java_is_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert {each.what for each in checks.findings("local[1]", (), java_too=False, needed=False)} == {
        *("Python", "disk", "memory", "kernels"),
    }
