"""How many intervals of a key overlap another: numbers by hand."""

from __future__ import annotations

import numpy as np

from cepctl.engines.diagnosis.partial_matches import _overlap_counts


def test_what_neither_starts_too_late_nor_ends_too_early_overlaps() -> None:
    """Key 0 has 0 to 2, 1 to 9 and 5 to 6, key 1 has 3 to 4; asked of 2 to 5, 3 to 4, 7 to 8 and 10 to 11."""
    key_starts, lower, ends = np.array([0, 3, 4]), np.array([0, 1, 5, 3]), np.array([2, 6, 9, 4])
    first, last = np.array([2, 3, 7, 10]), np.array([5, 4, 8, 11])

    def counts(key: int) -> list[int]:
        return _overlap_counts(key_starts, lower, ends, np.full(4, key), first, last).tolist()  # type: ignore[no-any-return]

    assert counts(0) == [3, 1, 1, 0]
    assert counts(1) == [1, 1, 0, 0]
    assert counts(-1) == counts(2) == [0, 0, 0, 0]  # no such key
