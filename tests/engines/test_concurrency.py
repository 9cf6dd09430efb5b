"""Parts run by threads: every item once, bounded memory, errors and early ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

import pytest

from cepctl.engines.concurrency import concurrently, in_turn


def counting(first: int, last: int) -> Iterator[int]:
    yield from range(first, last)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_item_of_every_part_comes_once(threads: int) -> None:
    parts: list[Callable[[], Iterator[int]]] = [partial(counting, 10 * i, 10 * i + 10) for i in range(20)]
    assert sorted(concurrently(parts, threads)) == list(range(200))


def test_no_parts_give_no_items() -> None:
    assert list(concurrently([], 2)) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_part_reaches_the_caller(threads: int) -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise ValueError("part 2 failed")

    with pytest.raises(ValueError, match="part 2 failed"):
        parts: list[Callable[[], Iterator[int]]] = [partial(counting, 0, 3), failing]
        list(concurrently(parts, threads))


def test_threads_wait_for_their_results_to_be_taken() -> None:
    made = []

    def endless() -> Iterator[int]:
        number = 0
        while True:
            made.append(number)
            yield number
            number += 1

    items = concurrently([endless, endless], 2)
    for _ in range(5):
        next(items)
    items.close()  # type: ignore[attr-defined]
    assert len(made) < 40


def test_leaving_early_ends_the_threads() -> None:
    before = threading.active_count()
    items = concurrently([partial(counting, 0, 1000)] * 4, 2)
    next(items)
    items.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


# --- results in their turn -----------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_their_parts(threads: int) -> None:
    def made(number: int) -> int:
        time.sleep(0.002 * (number % 3))
        return number

    assert list(in_turn((partial(made, number) for number in range(40)), threads)) == list(range(40))
    assert list(in_turn([], threads)) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_comes_in_its_turn(threads: int) -> None:
    def failing() -> int:
        raise ValueError("part 2 failed")

    results = in_turn([lambda: 1, lambda: 2, failing, lambda: 4], threads)
    assert [next(results), next(results)] == [1, 2]
    with pytest.raises(ValueError, match="part 2 failed"):
        next(results)


def test_an_error_of_what_gives_the_parts_comes_after_their_results() -> None:
    def parts() -> Iterator[Callable[[], int]]:
        yield lambda: 1
        raise ValueError("no more parts")

    results = in_turn(parts(), 2)
    assert next(results) == 1
    with pytest.raises(ValueError, match="no more parts"):
        next(results)


def test_a_result_does_not_wait_for_the_next_part_to_be_known() -> None:
    taken = threading.Event()

    def parts() -> Iterator[Callable[[], int]]:
        yield lambda: 1
        assert taken.wait(30)
        yield lambda: 2

    results = in_turn(parts(), 2)
    assert next(results) == 1
    taken.set()
    assert list(results) == [2]


def test_few_results_are_made_ahead_and_none_after_leaving() -> None:
    made: list[int] = []

    def parts() -> Iterator[Callable[[], None]]:
        for number in count():
            yield partial(made.append, number)

    results = in_turn(parts(), 2)
    for _ in range(5):
        next(results)
    time.sleep(0.05)
    assert len(made) <= 5 + 2 + 2
    before = threading.active_count()
    results.close()  # type: ignore[attr-defined]
    for _ in range(100):
        if threading.active_count() <= before - 2:
            break
        time.sleep(0.01)
    assert threading.active_count() <= before - 2
