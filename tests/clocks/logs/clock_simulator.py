"""A host with a hidden truth: by how much its clock is ahead at each reading, and what daemons log of it.

The truth is a function of readings in stretches: within one, the clock drifts by at most 14 ppm; between two,
it is set, forward or back.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

SECOND = 10**9
START = 1_772_442_012
_DRIFT = 14e-6
_NODE_SECONDS = 20


@dataclass(frozen=True)
class Stretch:
    """Readings from `first` to `last`, in seconds; the truth in seconds at nodes, linear between."""

    first: float
    last: float
    nodes: list[float]
    values: list[float]

    def ahead(self, reading: float) -> float:
        at = max(min(bisect_right(self.nodes, reading) - 1, len(self.nodes) - 2), 0)
        begin, end = self.nodes[at], self.nodes[at + 1]
        part = (reading - begin) / (end - begin)
        return self.values[at] + part * (self.values[at + 1] - self.values[at])

    def worst(self, begin: float, end: float) -> float:
        """The largest error from one reading to another."""
        inside = [
            abs(value) for node, value in zip(self.nodes, self.values, strict=True) if begin < node < end
        ]
        return max([*inside, abs(self.ahead(begin)), abs(self.ahead(end))])


@dataclass(frozen=True)
class Sample:
    """A row: the reading in whole seconds, estimate, sd, largest error since the row before, error of now."""

    reading: int
    estimate: float
    sd: float
    since: float
    error: float
    known: bool


@dataclass
class Host:
    """A host whose clock is set between stretches by `steps` seconds; `told`: syslog has the steps."""

    seed: int
    steps: list[float]
    seconds: int = 3_000
    told: bool = True
    stretches: list[Stretch] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    messages: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        reading, ahead = float(START), self.draw.uniform(-0.02, 0.02)
        for step in [*self.steps, 0.0]:
            stretch = self._stretch(reading, ahead)
            self.stretches.append(stretch)
            reading, ahead = stretch.last + step, stretch.values[-1] + step
            if step:
                self.messages.append((reading + self.draw.uniform(0, 0.5), step))
        self._sample()

    def _stretch(self, first: float, ahead: float) -> Stretch:
        last = first + self.draw.uniform(0.4, 1) * self.seconds
        nodes, values = [first], [ahead]
        while nodes[-1] < last:
            nodes.append(nodes[-1] + _NODE_SECONDS)
            values.append(values[-1] + self.draw.uniform(-1, 1) * _DRIFT * _NODE_SECONDS)
        return Stretch(first, nodes[-1], nodes, values)

    def _sample(self) -> None:
        worst = 0.0
        for stretch in self.stretches:
            seen, reading = stretch.first, int(stretch.first) + self.draw.randint(1, 64)
            while reading < stretch.last:
                worst = max(worst, stretch.worst(seen, reading))
                truth = stretch.ahead(reading)
                error = self.draw.gauss(0, 0.002)
                known = self.draw.random() > 0.03
                slack = self.draw.uniform(1.02, 1.5)
                sample = Sample(
                    reading, truth + error, 0.002, worst * slack, abs(error) * slack + 1e-6, known
                )
                self.samples.append(sample)
                worst, seen = 0.0, reading
                reading += self.draw.choice([64, 64, 65, 66, 600 if self.draw.random() < 0.1 else 64])
            worst = max(worst, stretch.worst(seen, stretch.last))

    def truths(self, count: int) -> Iterator[tuple[int, int]]:
        """Readings that the clock showed and by how much it was ahead then, in nanoseconds."""
        for _ in range(count):
            stretch = self.draw.choice(self.stretches)
            reading = self.draw.uniform(stretch.first, stretch.last)
            yield round(reading * SECOND), round(stretch.ahead(reading) * SECOND)

    def tracking(self) -> str:
        """tracking.log, whose column 7 is fast and column 11 slow."""
        lines = []
        for sample in self.samples:
            rest = self.draw.uniform(-0.01, 0.01)
            leap = "N" if sample.known else "?"
            lines.append(
                f"{_clock(sample.reading)} 192.0.2.7 2 -3.5 0.07 {sample.estimate + rest:.6e} {leap} 2 "
                f"{sample.sd:.3e} {rest:.6e} 1.5e-02 3.4e-04 {sample.since * 1.01:.3e}\n"
            )
        return "".join(lines)

    def measurements(self) -> str:
        """measurements.log, whose column 12 is slow; its bound is of delays and dispersions."""
        return "".join(
            f"{_clock(sample.reading)} 192.0.2.7 {'N' if sample.known else '?'} 1 111 111 1111 6 6 0.00 "
            f"{-sample.estimate:.9e} {sample.error:.6e} {sample.error / 4:.6e} {sample.error / 2:.6e} "
            f"{sample.error / 4:.6e} C0000201 4B K K\n"
            for sample in self.samples
        )

    def loopstats(self) -> str:
        """loopstats, whose column 3 is slow; without the rows that are not synchronised."""
        return "".join(
            f"{sample.reading // 86_400 + 40_587} {sample.reading % 86_400}.000 {-sample.estimate:.9f} -3.5 "
            f"{sample.sd:.9f} 0.01 6\n"
            for sample in self.samples
        )

    def peerstats(self) -> str:
        """peerstats, whose column 5 is slow."""
        return "".join(
            f"{sample.reading // 86_400 + 40_587} {sample.reading % 86_400}.000 192.0.2.7 961a "
            f"{-sample.estimate:.9f} {sample.error:.9f} {sample.error / 2 + 1e-8:.9f} {sample.sd:.9f}\n"
            for sample in self.samples
        )

    def plain(self) -> str:
        """A CSV."""
        rows = (
            f"n1,{sample.reading},{sample.estimate:.9f},{sample.error:.9f},{sample.sd}\n"
            for sample in self.samples
        )
        return f"host,time,ahead,bound,sd\n{''.join(rows)}"

    def syslog(self) -> str:
        """Messages of the steps."""
        return "".join(
            f"{_clock(int(time)).replace(' ', 'T')}+00:00 n1 chronyd[99]: System clock was stepped by "
            f"{step:.6f} seconds\n"
            for time, step in self.messages
        )


def _clock(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
