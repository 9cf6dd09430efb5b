"""The local runner: what takes all cores one after the other, what reads and writes side by side."""

from __future__ import annotations

from threading import Barrier, get_ident

import pytest

from cepctl.runners.local import LocalRunner


def test_tasks_in_threads_are_at_work_at_once_and_give_their_results_in_order() -> None:
    both = Barrier(2, timeout=30)

    def work(number: int) -> tuple[int, int]:
        if number < 2:
            both.wait()
        return number, get_ident()

    found = LocalRunner(readers=2).run_in_threads(work, range(6))
    assert [number for number, _ in found] == [*range(6)]
    assert len({thread for _, thread in found[:2]}) == 2


def test_one_reader_runs_tasks_where_it_is() -> None:
    assert set(LocalRunner().run_in_threads(lambda _: get_ident(), range(3))) == {get_ident()}


@pytest.mark.parametrize("readers", [1, 3])
def test_what_a_task_raises_is_raised(readers: int) -> None:
    def work(number: int) -> int:
        if number == 2:
            raise OSError(28, "No space left on device")
        return number

    with pytest.raises(OSError, match="No space"):
        LocalRunner(readers=readers).run_in_threads(work, range(9))
