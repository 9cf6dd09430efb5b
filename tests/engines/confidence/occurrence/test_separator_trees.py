"""The order in which the events of one problem are placed, and what then falls apart."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns.laws import Laws
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.occurrence.counted_records import NO_LINKS, nothing_counted
from cepctl.engines.confidence.occurrence.separator_trees import SeparatorTree, separator_tree
from cepctl.engines.confidence.occurrence.separators import ConnectedProblems
from cepctl.engines.kernels.kernel import kernel
from cepctl.numeric.arrays import Indexes


@kernel
def _tree(part: ConnectedProblems, laws: Laws) -> SeparatorTree:
    found: SeparatorTree = separator_tree(part, laws)
    return found


def tree_of(pairs: list[tuple[int, int]]) -> SeparatorTree:
    """The tree of events of which these are compared."""
    count, ends = len(pairs), np.array(pairs, dtype=np.int64)
    events: Indexes = np.arange(int(ends.max()) + 1)
    part = ConnectedProblems(
        1, events, np.zeros(count, bool), np.arange(count + 1), ends[:, 0].copy(), ends[:, 1].copy(),
        np.full(count, -1), np.ones((count, 1), np.uint64), NO_LINKS, nothing_counted(1),
    )  # fmt: skip
    masses = Masses(
        events, events + 9, np.arange(len(events) + 1), events, events + 9, np.full(len(events), 0.1)
    )
    return _tree(part, masses.laws)


@pytest.mark.parametrize(
    ("pairs", "separators", "parents", "ends"),
    [
        ([(0, 1)], [0], [-1], [1]),
        ([(0, 1), (1, 2), (2, 3)], [1, 2], [-1, 0], [2, 2]),
        ([(0, 4), (1, 4), (2, 4), (3, 4)], [4], [-1], [1]),
        ([(0, 1), (2, 3)], [2, 0], [-1, -1], [1, 2]),
    ],
    ids=["two events", "a chain of four", "one beside four others", "two pairs apart"],
)
def test_what_leaves_the_smallest_parts_is_placed_first(
    pairs: list[tuple[int, int]], separators: list[int], parents: list[int], ends: list[int]
) -> None:
    found = tree_of(pairs)
    assert found.separators.tolist() == separators
    assert found.parent.tolist() == parents
    assert found.end.tolist() == ends


def test_a_chain_is_placed_in_about_as_many_levels_as_its_length_has_bits() -> None:
    found = tree_of([(i, i + 1) for i in range(62)])
    depth = np.zeros(len(found.parent), dtype=np.int64)
    for number, above in enumerate(found.parent):
        depth[number] = 1 if above < 0 else depth[above] + 1
    assert depth.max() <= 6
