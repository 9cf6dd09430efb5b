"""Confidences of chains on wide intervals, the same bits in whatever company a chain is summed.

Chains that share their middle event share cells, nodes and factors, which makes them ten times as fast as
each alone; but which chains these are depends on the slice and the batch, and so do the last bits of the
sums.  All ways to sum a chain agree to a relative error far below ERROR.  So a sum is rounded to BITS bits;
and where it lies so close to the border between two such numbers that another way might fall on the other
side, the chain is summed alone, with the rivals that can decide it and no others, and that is rounded
(Ziv's test: Muller et al., "Handbook of Floating-Point Arithmetic", 2nd ed. 2018, section 10.3).  If one
way is clear of a border, all are on its side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.gaps.distinct_gaps import GapChains
from cepctl.engines.confidence.gaps.polynomials import wide_gap_confidence

BITS = 34
"""Rounding to this many bits errs by at most 6e-11 of the number."""

ERROR = 5e-14
"""Bound on the relative error of a sum, many times what is seen: a few 1e-15."""


def agreed_confidence(
    masses: Masses,
    chains: GapChains,
    window: int | None,
    possible: Flags,
    alone: Callable[[Indexes], GapChains],
    *,
    together: bool = True,
) -> Reals:
    """Confidence of every chain, shape (n,); NaN for those that are left to nested sums.

    Parameters
    ----------
    masses, chains, window
        As for `wide_gap_confidence`.
    possible
        Chains that some world returns, shape (n,).
    alone
        Some of the chains, each with gaps of its own and the rivals that can decide it.
    together
        Whether chains of one middle event are summed side by side: where their cuts differ, these add up.
    """
    confidence = wide_gap_confidence(masses, chains, window, together=together)
    unclear = np.flatnonzero(possible & _near_border(confidence))
    if len(unclear):
        confidence[unclear] = wide_gap_confidence(masses, alone(unclear), window, together=False)
    # Parts of a tick may have either sign: what cannot happen is known without them.
    return np.where(possible, rounded(confidence), 0.0)


def _near_border(confidence: Reals) -> Flags:
    """Whether sums, two errors off, may round to another number; so may those that are 0 or unknown."""
    mantissa = np.ldexp(np.frexp(confidence)[0], BITS)
    from_border = np.abs(mantissa - np.floor(mantissa) - 0.5)
    # Written so that NaN is unclear.
    return np.asarray(~((confidence > 0.0) & (from_border > 2.0 * ERROR * mantissa)))


def rounded(confidence: Reals) -> Reals:
    """Numbers to BITS bits; NaN stays.

    Examples
    --------
    >>> rounded(np.array([0.5, 1 / 3])).tolist()
    [0.5, 0.3333333333430346]
    """
    mantissa, exponent = np.frexp(confidence)
    shortened: Reals = np.ldexp(np.rint(np.ldexp(mantissa, BITS)), exponent - BITS)
    return shortened
