"""Draws that depend on a seed and a name alone: no order of files, no batch and no other event changes one.

The name of what is drawn for is hashed together with the seed and with what the draw is for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.ties import Clocks, names_in_order
from cepctl.engines.columns.clocks import NO_TIE, EventClocks, clocks_in_order
from cepctl.engines.confidence.clocks.chain_weights import AFTER, ChainWeights, WeighedMasses, mass_near
from cepctl.numeric.arrays import Indexes, Numbers, Reals
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


def tied_offsets(clocks: Clocks, draw: Callable[[Sequence[str]], Reals]) -> dict[str, int]:
    """The offset of every clock, in ticks, drawn as the worlds have it that its ties leave.

    A chain is drawn from its first clock on.  The offset of each has the mass of its clock, weighed by how
    probable it is that all ties after it hold, within the tie from the offset before.  So every combination
    is drawn as often as the renormalised worlds say, and none is thrown away.

    `draw`: a number in [0, 1) for each name.
    """
    names, found = names_in_order(clocks), dict[str, int]()
    known: EventClocks = clocks_in_order(clocks)
    weights, before = ChainWeights(known), 0
    for number, (name, share) in enumerate(zip(names, draw(names).tolist(), strict=True)):
        first, last = int(known.offsets.lower[number]), int(known.offsets.upper[number])
        apart = int(known.tie[number])
        if apart != NO_TIE:
            first, last = max(first, before - apart), min(last, before + apart)
        before = found[name] = _place(weights.mass(number, (AFTER,)), first, last, share)
    return found


def _place(mass: WeighedMasses, first: int, last: int, share: float) -> int:
    """The first tick from `first` to `last` up to which there is more than a share of their mass."""
    begin, wanted = first, share * _upto(mass, first, last)
    while first < last:
        middle = (first + last) // 2
        if _upto(mass, begin, middle) > wanted:
            last = middle
        else:
            first = middle + 1
    return first


def _upto(mass: WeighedMasses, first: int, last: int) -> float:
    return float(mass_near(mass, np.int64(0), np.int64(first), np.int64(last)))
