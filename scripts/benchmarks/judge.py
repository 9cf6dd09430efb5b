"""What the results must be: recorded by the point engine and extended by the period, or summed anew.

On ZDI10's Appendix C workload every cycle of values adds the same matches, away from both ends.  So what
the point engine finds in 1,000 and in 2,000 events says what any multiple of 1,000 events must give:

    expected(n) = at_1000 + (n - 1000) / 1000 * (at_2000 - at_1000)

On a workload without period, confidences of a sample are summed over ticks, without any of the engine's
formulas.  For fixed tick s of the first of three events, with mass p_j, F(t) = P(t_b <= t) and cumulated
C(t) = P(t_c <= t), G(t) = sum over u <= t of p_c(u) F(u - 1):

    sum over s < t_b < t_c < s + W of p_b p_c  =  G(s+W-1) - G(s) - F(s) (C(s+W-1) - C(s))
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from engine import confidences
from results import CheckFailed, check_close, check_equal
from workloads import FIVE, FIVE_PERCENT, FOUR, NEXT, ONE_PERCENT, SEED, Pattern

_AT = tuple[int, float]

RECORDED: dict[tuple[Pattern, int], tuple[_AT, _AT]] = {
    (ONE_PERCENT, 0): ((10, 10.0), (20, 20.0)),
    (ONE_PERCENT, 1): ((10, 10.0), (20, 20.0)),
    (ONE_PERCENT, 10): ((10, 7.0078825180865945), (20, 14.015765036173196)),
    (ONE_PERCENT, 50): ((64, 4.612739383927615), (134, 9.46424394424543)),
    (FIVE_PERCENT, 0): ((710, 710.0), (1460, 1460.0)),
    (FIVE_PERCENT, 10): ((1548, 573.0337976460376), (3198, 1179.7339380196413)),
    (FIVE_PERCENT, 50): ((7360, 561.6980959933119), (15610, 1168.087151230585)),
    (FOUR, 10): ((5997, 919.4002498958968), (12447, 1901.2881978187672)),
    (FIVE, 10): ((20802, 1103.7256585966193), (43302, 2283.973098608561)),
    (NEXT, 10): ((678, 49.74545116213691), (1378, 100.08710629790248)),
    (NEXT, 50): ((7360, 50.690173374890755), (15610, 102.71770722924016)),
}
"""Matches and summed confidence in 1,000 and 2,000 events, per pattern and half-width."""

SAMPLE = 200


def check_periodic(matches: pa.Table, pattern: Pattern, half_width: int, events: int) -> str:
    """Hold matches on `appendix_c(events, half_width)` to what the period says; returns what was checked."""
    (count, total), (later_count, later_total) = RECORDED[pattern, half_width]
    cycles = events / 1000 - 1
    if events % 1000:
        raise CheckFailed(f"{events} events are not a whole number of cycles")
    name = f"{pattern.text}, d = {half_width}, {events:,} events"
    check_equal(f"matches of {name}", matches.num_rows, round(count + cycles * (later_count - count)))
    check_close(f"confidence of {name}", confidences(matches), total + cycles * (later_total - total))
    return "count and sum"


def check_sample(matches: pa.Table, events: pa.Table, window: int) -> str:
    """Hold a sample of the matches of a chain of three to plain sums over ticks."""
    chosen = np.random.default_rng(SEED).integers(0, matches.num_rows, SAMPLE)
    place = {name: row for row, name in enumerate(events.column("event_id").to_pylist())}
    for row in matches.take(pa.array(chosen)).to_pylist():
        ids = [name for (name,) in row["signature"]]
        bound = events.take(pa.array([place[name] for name in ids])).to_pylist()
        check_close(f"confidence of {ids}", row["confidence"], plain_confidence(bound, window))
    return f"{SAMPLE} sums"


def plain_confidence(bound: list[dict[str, Any]], window: int) -> float:
    """P(t_a < t_b < t_c < t_a + W) by sums over all ticks."""
    begin = min(event["lower"] for event in bound)
    ticks = max(event["upper"] for event in bound) - begin + 1
    first, middle, last = (_mass(event, begin, ticks) for event in bound)
    before_middle = np.concatenate([[0.0], np.cumsum(middle)])  # at t: P(t_b < t)
    before_last = np.concatenate([[0.0], np.cumsum(last)])
    both = np.concatenate([[0.0], np.cumsum(last * before_middle[:-1])])
    start = np.arange(ticks)
    after, stop = start + 1, np.minimum(start + window, ticks)
    reached = np.maximum(stop, after)
    inner = both[reached] - both[after] - before_middle[after] * (before_last[reached] - before_last[after])
    return float(np.sum(first * inner))


def _mass(event: dict[str, Any], begin: int, ticks: int) -> np.ndarray:
    """Mass of each tick from `begin` on."""
    mass = np.zeros(ticks)
    buckets = event["pmf"] or [{"lo": event["lower"], "hi": event["upper"], "p": 1.0}]
    whole = sum(bucket["p"] for bucket in buckets)
    for bucket in buckets:
        width = bucket["hi"] - bucket["lo"] + 1
        mass[bucket["lo"] - begin : bucket["hi"] - begin + 1] = bucket["p"] / width / whole
    return mass
