"""How much memory a run may take: what a user names, what there is, and who gets which part."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.errors import UsageError
from cepctl.process.memory import (
    MemoryBudget,
    budget_of,
    control_group_limits,
    default_budget,
    machine_memory,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2_000_000_000), ("1.5 gb", 1_500_000_000), ("1GiB", 1 << 30), ("700000000B", 700_000_000)],
)
def test_a_size_has_a_unit(text: str, size: int) -> None:
    assert budget_of(text).total == size


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2", "'2' is not a size of memory; write a number and its unit, such as 2GB or 512MiB"),
        ("much", "'much' is not a size of memory"),
        ("-1GB", "'-1GB' is not a size of memory"),
        ("1e3GB", "'1e3GB' is not a size of memory"),
        (
            "100MB",
            "100MB of memory is too little: Python and its libraries alone take 400 MB; name at least 600 MB",
        ),
    ],
)
def test_what_is_no_size_or_too_little_is_refused(text: str, told: str) -> None:
    with pytest.raises(UsageError) as refused:
        budget_of(text)
    assert str(refused.value).startswith(told)


def test_tasks_at_one_time_share_a_budget() -> None:
    alone, shared = budget_of("2GB"), budget_of("2GB").shared_by(2)
    assert (alone.own, shared.own) == (1_600_000_000, 600_000_000)
    assert shared.events + shared.block(1) + 4 * shared.rows == shared.own


def test_a_budget_too_small_for_its_tasks_is_refused_with_the_one_that_is_not() -> None:
    with pytest.raises(UsageError, match=r"1\.0 GB of memory for 4 tasks .* raise --max-memory to 2\.4 GB"):
        budget_of("1GB").shared_by(4)


def test_what_nobody_has_named_is_never_too_little() -> None:
    assert MemoryBudget(10**9).shared_by(4).own == 200_000_000


def test_by_default_half_of_the_memory_is_taken() -> None:
    assert default_budget().total in (machine_memory() // 2, 600_000_000)


def test_a_container_may_have_less_memory_than_its_machine(tmp_path: Path) -> None:
    """Both versions of control groups, the limits of the groups around included."""
    root, own = tmp_path / "cgroup", tmp_path / "own"
    inner = root / "user" / "job"
    inner.mkdir(parents=True)
    own.write_text("0::/user/job\n")
    assert control_group_limits(root, own) == []
    (inner / "memory.max").write_text("max\n")
    assert control_group_limits(root, own) == []
    (root / "user" / "memory.max").write_text("3000\n")
    (inner / "memory.max").write_text("5000\n")
    assert min(control_group_limits(root, own)) == 3000


def test_the_first_version_of_control_groups_has_a_folder_for_memory(tmp_path: Path) -> None:
    root, own = tmp_path / "cgroup", tmp_path / "own"
    (root / "memory" / "docker" / "abc").mkdir(parents=True)
    own.write_text("5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n")
    (root / "memory" / "docker" / "abc" / "memory.limit_in_bytes").write_text("7000\n")
    assert control_group_limits(root, own) == [7000]


def test_a_container_that_hides_its_groups_shows_its_limit_at_the_root(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("1500000000\n")
    assert control_group_limits(tmp_path, tmp_path / "nowhere") == [1_500_000_000]
