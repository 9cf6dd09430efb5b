"""Rows of a calibration: which are open, which came out as they cannot, and seeds put together."""

from __future__ import annotations

import numpy as np

from cepctl.calibration.result import calibration
from cepctl.calibration.rows import RowsOfSeed, open_rows
from cepctl.schema import MILLISECOND


def rows(
    *each: tuple[float, bool, bool], types: tuple[tuple[str, ...], ...] = (("A",),), **more: int
) -> RowsOfSeed:
    """Rows by what was stated, whether they happened and whether they are tied; of types in turn."""
    stated, happened, tied = (np.array(column) for column in zip(*each, strict=True))
    number = np.arange(len(each))
    plain, unreturned = more.get("plain", 0), more.get("unreturned", 0)
    return RowsOfSeed(
        *(stated, happened, tied),
        cluster=number,
        type_=number % len(types),
        types=types,
        events=lambda rows: [()] * len(rows),
        plain=plain,
        unreturned=unreturned,
    )


def test_rows_that_are_nearly_certain_or_tied_are_not_open() -> None:
    found = rows((0.5, True, False), (1e-9, False, False), (1 - 1e-9, True, False), (0.5, True, True))
    assert found.is_open.tolist() == [True, False, False, False]
    assert rows((2e-9, False, False), (1 - 2e-9, True, False)).is_open.all()


def test_what_cannot_happen_and_did_or_must_and_did_not_is_counted() -> None:
    wrong = rows((0.0, True, False), (1.0, False, False))
    right = rows(
        (0.0, False, False), (1.0, True, False), (0.0, True, True), (1.0, False, True), (1e-12, True, False)
    )
    assert (wrong.impossible, right.impossible) == (2, 0)
    assert rows((0.5, True, False), unreturned=3).impossible == 3


def test_types_of_several_seeds_are_numbered_together() -> None:
    one = rows((0.5, True, False), (0.4, False, False), types=(("B",), ("C",)))
    other = rows((0.3, True, False), (0.2, True, True), types=(("A",), ("B",)))
    found = open_rows([one, other])
    assert found.types == (("A",), ("B",), ("C",))
    assert [found.types[each] for each in found.type_.tolist()] == [("B",), ("C",), ("A",)]
    assert (found.seed.tolist(), found.row.tolist()) == ([0, 0, 1], [0, 1, 0])


def test_rows_are_open_certain_or_tied() -> None:
    parts = [rows((0.5, True, False), (1.0, True, False), (0.5, False, True), plain=7)] * 2
    found = calibration(parts, None, "jitter 1 s", 4, MILLISECOND)
    assert (found.rows, found.open, found.tied, found.certain) == (20, 2, 2, 16)
    assert [(row.seed, row.stated, row.happened) for row in found.shown[0]] == [
        (4, 0.5, True),
        (5, 0.5, True),
    ]


def test_the_type_comes_first_of_which_the_most_rows_are_too_many_or_too_few() -> None:
    many = [(0.5, at < 7, False) for at in range(10)]  # two more than stated
    few = [(0.1, True, False)] * 2  # 1.8 more
    even = [(0.5, at < 5, False) for at in range(10)]
    parts = [rows(*each, types=((name,),)) for name, each in (("even", even), ("few", few), ("many", many))]
    found = calibration(parts, None, "jitter 1 s", 1, MILLISECOND)
    assert [each.steps for each in found.types] == [("many",), ("few",), ("even",)]
    assert [each.rows for each in found.types] == [10, 2, 10]


def test_rows_that_are_farthest_off_are_shown_first() -> None:
    stated = [0.2, 0.9, 0.5, 0.7]
    found = calibration([rows(*((s, False, False) for s in stated))], None, "jitter 1 s", 1, MILLISECOND)
    assert [row.stated for row in found.shown[0]] == [0.9, 0.7, 0.5, 0.2]
