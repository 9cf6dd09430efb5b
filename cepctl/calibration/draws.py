"""Draws that depend on a seed and a name alone: no order of files, no batch and no other event changes one.

The name of what is drawn for is hashed together with the seed and with what the draw is for.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.arrays import Indexes, Numbers, Reals
from cepctl.sketches.hashing import whole_text_hashes

_MANTISSA = 53


def drawn(seed: int, purpose: str, names: pa.Array | pa.ChunkedArray) -> Reals:
    """A number in [0, 1) for each name, shape (n,), even over all names.

    Examples
    --------
    >>> names = pa.array(["e1", "e2", "e1"])
    >>> one, other, again = drawn(1, "reading", names)
    >>> bool(one == again != other), bool(drawn(2, "reading", names)[0] == one)
    (True, False)
    """
    names = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
    before, between = (pa.scalar(text, pa.large_string()) for text in (f"{seed} {purpose}", " "))
    texts = pc.binary_join_element_wise(before, names.cast(pa.large_string()), between)
    upper = whole_text_hashes(texts) >> np.uint64(64 - _MANTISSA)
    return upper.astype(np.float64) * 2.0**-_MANTISSA


def places(shares: Reals, first: Numbers, last: Numbers) -> Numbers:
    """Whole numbers from `first` to `last`, both included, as far along as the shares in [0, 1) say.

    Examples
    --------
    >>> places(np.array([0.0, 0.49, 0.99]), np.array([-1, -1, -1]), np.array([2, 2, 2])).tolist()
    [-1, 0, 2]
    """
    count = (last - first).astype(np.float64) + 1.0
    return np.minimum(first + np.floor(shares * count).astype(np.int64), last)


def chosen(mass: Reals, shares: Reals) -> Indexes:
    """The bucket that each share of all mass falls into."""
    upto = np.cumsum(mass)
    return np.minimum(np.searchsorted(upto / upto[-1], shares, side="right"), len(mass) - 1)
