"""A cluster with a hidden truth: hosts that chrony keeps, and what it logs of them, every 64 seconds.

row k         measures ahead[k] + noise[k], and within a second slews the clock by that much
until k + 1   the clock drifts from -noise[k] to ahead[k + 1], on a frequency that is a little off
column 14     the largest error since the row before, and what round trips may hide

Noise is what no estimate can know, so the sd that a row names is that of its noise.  Where paths are
asymmetric, each clock is wrong besides by up to half of what its round trips may hide: no row shows that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.clocks.logs.clock_simulator import SECOND, START, _clock

Reals = NDArray[np.float64]
_POLL, _SLEWED = 64, 1.0
_DRIFT = 1e-7


@dataclass(frozen=True)
class KeptHost:
    """A host for some rows: `nodes` are readings in seconds, `ahead` the truth there, linear between."""

    name: str
    nodes: Reals
    ahead: Reals
    log: str
    worst: float

    @classmethod
    def drawn(cls, name: str, seed: int, rows: int, *, asymmetric: bool = False) -> KeptHost:
        """A host from a seed: noise of 0.1 to 1 ms, round trips that hide 1 to 12 ms."""
        random = np.random.default_rng(seed)
        sd, hidden = 1e-4 * 10 ** random.uniform(), 1e-3 * 12 ** random.uniform()
        noise, drift = random.normal(0, sd, rows), random.normal(0, _DRIFT * _POLL, rows)
        at_row = np.concatenate([random.normal(0, 2 * sd, 1), -noise[:-1] + drift[:-1]])
        times = START + _POLL * np.arange(rows)
        nodes = np.stack([times, times + _SLEWED], axis=1).reshape(-1).astype(np.float64)
        ahead = np.stack([at_row, -noise], axis=1).reshape(-1)
        before = np.concatenate([[0], np.abs(noise[:-1])])
        seen = np.maximum(np.maximum(np.abs(at_row), before), np.abs(np.concatenate([[0], at_row[:-1]])))
        most = seen * 1.01 + hidden * random.uniform(0.5, 1, rows)
        log = "".join(
            f"{_clock(int(time))} 192.0.2.7 2 -3.5 0.07 {offset:.6e} N 2 {sd:.3e} 0.000e+00 1.5e-02 3.4e-04 "
            f"{error * 1.01:.3e}\n"
            for time, offset, error in zip(times, at_row + noise, most, strict=True)
        )
        unseen = hidden * random.uniform(-0.5, 0.5) if asymmetric else 0.0
        return cls(name, nodes, ahead + unseen, log, float(most.max()) * 1.02)

    def shown(self, truth: Reals) -> Reals:
        """What the clock shows at true times, in seconds since the first row."""
        reading = truth
        for _ in range(8):
            reading = truth + np.interp(reading, self.nodes - START, self.ahead)
        return reading


@dataclass(frozen=True)
class Pairs:
    """n pairs of events of two hosts, the second up to 10 ms before or after the first; times in ns.

    `host` and `truth` are of shape (n, 2), `reading` is what the two clocks showed, to a microsecond.
    """

    host: NDArray[np.int64]
    truth: NDArray[np.int64]
    reading: NDArray[np.int64]


def drawn_pairs(hosts: list[KeptHost], count: int, seed: int) -> Pairs:
    """Pairs at any time between the first and the last row."""
    random = np.random.default_rng(seed)
    span = hosts[0].nodes[-2] - START
    host = np.array([random.choice(len(hosts), 2, replace=False) for _ in range(count)], np.int64)
    first = random.uniform(2 * _POLL, span - 2 * _POLL, count)
    truth = np.stack([first, first + random.uniform(-0.01, 0.01, count)], axis=1)
    reading = np.zeros_like(truth)
    for number, each in enumerate(hosts):
        on_it = host == number
        reading[on_it] = each.shown(truth[on_it])
    micros = np.floor(reading * 1e6).astype(np.int64) * 1_000
    # What the clock showed when it turned to that microsecond is what happened.
    exact = np.rint((truth - reading) * SECOND).astype(np.int64) + micros
    return Pairs(host, START * SECOND + exact, START * SECOND + micros)
