"""Scores of stated probabilities: Brier score, log score, deciles with their intervals, calibration error.

Rows of one cluster, such as one key, err together, so that they tell less of a share than as many rows that
are independent.  The variance of a share by clusters over the binomial one is its design effect D, at least
1 (Kish, "Survey Sampling", 1965, section 5.4), and n rows tell as much as n / D independent ones.

    name here      meaning
    brier          mean of (s - y)^2 (Brier, "Verification of forecasts", 1950)
    log_score      mean of -ln of the probability that was stated for what came out
    low, high      the 95 % interval of a share at n / D rows (Wilson, "Probable inference", 1927)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cepctl.numeric.arrays import Flags, Indexes, Reals

DECILES = 10
FEWEST_ROWS = 500
"""A decile of fewer rows does not tell the worst gap."""
_Z = 1.959963984540054
LEAST = 1e-6
"""What was stated counts as no less than this in the log score, and as no more than 1 less this."""


@dataclass(frozen=True)
class Decile:
    """The open rows that were stated from `from_` to below `to`: how many, mean stated, share that happened.

    `low` and `high` are the 95 % interval of that share.  All are None where there are no rows.
    """

    from_: float
    to: float
    rows: int
    stated: float | None = None
    happened: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Scores:
    """What is known of n open rows; None where there are none.

    `happened`: the share that did; `worst`: the largest gap of a decile of FEWEST_ROWS rows or more.
    """

    happened: float | None
    brier: float | None
    log_score: float | None
    calibration_error: float | None
    worst: float | None
    deciles: tuple[Decile, ...]


def scores(stated: Reals, happened: Flags, cluster: Indexes) -> Scores:
    """Score rows; all of shape (n,).

    Examples
    --------
    >>> found = scores(np.array([0.25, 0.75]), np.array([False, True]), np.array([0, 1]))
    >>> found.brier, round(found.log_score, 6), found.calibration_error
    (0.0625, 0.287682, 0.25)
    """
    place = np.searchsorted(np.arange(1, DECILES) / DECILES, stated, side="right")
    deciles = tuple(
        _decile(number, *(each[place == number] for each in (stated, happened, cluster)))
        for number in range(DECILES)
    )
    if not len(stated):
        return Scores(None, None, None, None, None, deciles)
    came = np.where(happened, stated, 1.0 - stated)
    gaps = [(each.rows, abs(each.stated - each.happened)) for each in deciles if each.stated is not None
            and each.happened is not None]  # fmt: skip
    return Scores(
        happened=float(happened.mean()),
        brier=float(np.square(stated - happened).mean()),
        log_score=float(-np.log(np.clip(came, LEAST, 1.0 - LEAST)).mean()),
        calibration_error=math.fsum(rows * gap for rows, gap in gaps) / len(stated),
        worst=max((gap for rows, gap in gaps if rows >= FEWEST_ROWS), default=None),
        deciles=deciles,
    )


def _decile(number: int, stated: Reals, happened: Flags, cluster: Indexes) -> Decile:
    from_, to, rows = number / DECILES, (number + 1) / DECILES, len(stated)
    if not rows:
        return Decile(from_, to, 0)
    share = float(happened.mean())
    low, high = wilson(share, rows / design_effect(happened, cluster))
    return Decile(from_, to, rows, float(stated.mean()), share, low, high)


def design_effect(happened: Flags, cluster: Indexes) -> float:
    """The variance of the share that happened by clusters, over that of independent rows; at least 1.

    Examples
    --------
    Two clusters of two rows that come out alike tell as much as two rows.

    >>> design_effect(np.array([True, True, False, False]), np.array([7, 7, 8, 8]))
    2.0
    """
    share = float(happened.mean())
    if share in (0.0, 1.0):
        return 1.0
    _, place = np.unique(cluster, return_inverse=True)
    excess = np.bincount(place, happened - share)
    return max(1.0, float(np.square(excess).sum()) / (len(happened) * share * (1.0 - share)))


def wilson(share: float, rows: float) -> tuple[float, float]:
    """The 95 % interval of a share of so many independent rows.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0.5, 10)], [round(end, 4) for end in wilson(0.0, 10)]
    ([0.2366, 0.7634], [0.0, 0.2775])
    """
    square = _Z * _Z / rows
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    return max(middle - half, 0.0), min(middle + half, 1.0)
