"""SIGKILL at random moments of real runs: what all runs write amounts to one run over everything.

KILLS of them go into a series of runs over a log that grows; every other run goes on to its end.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from cepctl.cli import main
from tests.commands import Commands

KILLS = int(os.environ.get("CEPCTL_KILLS", "200"))
QUERY = "PATTERN SEQ(A a, !N n, B b) WITHIN 40 ticks"
HEADER = "confidence,start,end,match\n"


class Delivery:
    """A log that grows by some events, often in the middle of a line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.random = random.Random(7)
        self.tick = 0
        self.text = "event_id,event_type,lower,upper\n"
        self.written = 0

    def grow(self) -> None:
        for _ in range(self.random.randint(1, 12)):
            self.tick += self.random.randint(0, 9)
            lower = self.tick - self.random.randint(0, 10)
            kind = self.random.choice("AABBN")
            self.text += f"e{self.text.count(chr(10))},{kind},{lower},{lower + self.random.randint(0, 15)}\n"
        end = len(self.text) - self.random.randint(0, 3)
        self._write(max(end, self.written))

    def end(self) -> None:
        self._write(len(self.text))

    def _write(self, end: int) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(self.text[self.written : end])
        self.written = end


class Runs:
    """`cepctl match --state` in a folder, each time in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands = Commands(folder / "said.txt")

    def run(self, *more: str, killed_after: float | None = None) -> int:
        """One run; its exit code, negative where a signal ended it."""
        words = ["match", "--state", "S", "-o", "out", "--slack", "10 ms", "--time", "ticks", QUERY, "e.csv"]
        return self.commands.run([*words, *more], self.folder, killed_after=killed_after)

    def whole(self, *more: str) -> float:
        """A run that goes on to its end; how many seconds it took."""
        began = time.monotonic()
        assert self.run(*more) == 0
        return time.monotonic() - began


def rows(folder: Path) -> list[str]:
    names = sorted(path.name for path in folder.iterdir())
    assert names == [f"run-{number:06d}.csv" for number in range(1, len(names) + 1)]
    texts = [(folder / name).read_text(encoding="utf-8") for name in names]
    assert all(text.startswith(HEADER) for text in texts)
    return [row for text in texts for row in text.removeprefix(HEADER).splitlines()]


@pytest.mark.slow
def test_runs_that_are_killed_lose_nothing_and_say_nothing_twice(tmp_path: Path) -> None:
    log = Delivery(tmp_path / "e.csv")
    log.grow()
    commands = Runs(tmp_path)
    length = commands.whole()
    killed = 0
    chance = random.Random(11)
    while killed < KILLS:
        log.grow()
        # As long as a run took last: whatever the load, moments of the whole run are hit.
        killed += commands.run(killed_after=chance.uniform(0, length)) == -signal.SIGKILL
        if chance.random() < 0.2:
            length = commands.whole()
    log.end()
    commands.whole("--final")
    commands.commands.end()
    alone = tmp_path / "alone.csv"
    words = ["match", "--runner", "local", "--time", "ticks", "-o", str(alone), QUERY, str(log.path)]
    assert main(words) == 0
    wanted = alone.read_text(encoding="utf-8").removeprefix(HEADER).splitlines()
    found = rows(tmp_path / "out")
    assert Counter(row.partition(",")[2] for row in found) == Counter(row.partition(",")[2] for row in wanted)
    assert len(wanted) > 2 * KILLS
    ends = [int(row.split(",")[2]) for row in found]
    assert ends == sorted(ends)
