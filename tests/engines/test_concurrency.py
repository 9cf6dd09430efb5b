"""Parts run by threads: every item once, bounded memory, errors and early ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from cepctl.engines.concurrency import concurrently


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
