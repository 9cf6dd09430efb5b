"""Which groups of a row some world may have together: labels by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.event.member_numbers import _join

A, B, C, D = range(4)
LOWER, UPPER = np.array([0, 2, 3, 9]), np.array([2, 4, 9, 9])
"""A on 0 to 2, B on 2 to 4, C on 3 to 9, D on 9: A and C share no tick, and neither do A and D, B and D."""


def labels(*rows: list[list[int]], ordered: bool, trailing: bool = False, most: int = 99) -> list[int]:
    groups = [group for row in rows for group in row]
    offsets, begins = np.cumsum([0, *map(len, rows)]), np.cumsum([0, *map(len, groups)])
    members = np.array([member for group in groups for member in group])
    label = np.arange(len(groups))
    _join(offsets, begins, members, LOWER, UPPER, ordered, trailing, most, label)
    return label.tolist()


def test_of_all_that_fits_a_world_has_one_set() -> None:
    """Each other set excludes it; the same one, of other events in between, does not."""
    assert labels([[A], [A, B], [A], [B, C]], ordered=False) == [0, 1, 0, 3]
    assert labels([[A], [A, B]], ordered=False, trailing=True) == [0, 1]


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ([A, C], [B, C], True),  # A and B may both be at 2
        ([A, B], [A, C], True),  # B and C at 3 or 4
        ([A], [C], False),  # no tick is that of both
        ([D], [A], False),
        ([A, C, D], [C, D], False),
        ([A, B, D], [B, A, D], False),  # each has the other one's first, at another place
        ([A, B], [B, C], False),
        ([B, C], [A, B], False),
    ],
)
def test_runs_that_part_do_so_at_one_tick(one: list[int], other: list[int], together: bool) -> None:
    """And neither has the event with which the other goes on."""
    assert labels([one, other], ordered=True) == [0, 0 if together else 1]


@pytest.mark.parametrize("trailing", [False, True])
def test_a_run_that_goes_on_where_another_ends(trailing: bool) -> None:
    """One may begin the other where nothing has to come after it."""
    assert labels([[A, B], [A]], ordered=True, trailing=trailing) == [0, 0 if trailing else 1]


def test_groups_are_joined_by_those_in_between() -> None:
    """A and B may be at one tick, and so may B and C: all three have one label, and D has that of C.

    Groups of another row stand alone, as those of a row do that has too many.
    """
    assert labels([[A], [C], [B], [D]], [[A], [B]], ordered=True) == [0, 0, 0, 0, 4, 4]
    assert labels([[D], [A], [C], [B]], ordered=True) == [0, 0, 0, 0]
    assert labels([[A], [D], [B]], [[A]], ordered=True) == [0, 1, 0, 3]
    assert labels([[A], [D]], [[A], [D], [B]], ordered=True, most=2) == [0, 1, 2, 2, 2]
