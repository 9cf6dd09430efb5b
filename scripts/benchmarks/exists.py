"""Whether there is a match at all, in fifty million events: `match --exists` from the shell."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from large import SMALL, large_dataset
from plain_files import of_process
from results import CheckFailed, Goal, Row, Setup, Timing
from start_up import run_cepctl
from workloads import ONE_PERCENT

NEVER = ONE_PERCENT.text.replace(" WITHIN", " AND c.val > a.val + 2000 WITHIN")
"""Values end at 1,000."""


def exists(setup: Setup) -> Iterator[Row]:
    """With an early match beside the start of the command, without any beside the match itself."""
    size = setup.events(50_000_000, 500_000)
    small, events = (large_dataset(setup.folder, count, 10) for count in (SMALL, size))
    case = f"{size:,} events, d = 10"
    for _ in range(2):  # The first is for warmth.
        start = _asked(setup, ONE_PERCENT.text, small, "true", "--exists")
    early = _asked(setup, ONE_PERCENT.text, events, "true", "--exists")
    yield Row(
        f"{case}, an early match", early, size, "events", ratio=early.seconds - start.seconds,
        against="1 s beside the start", goal=Goal("at most", 1), checked="count",
        note=f"start {start.seconds:.2f} s",
    )  # fmt: skip
    none = _asked(setup, NEVER, events, "false", "--exists")
    match = _asked(setup, NEVER, events, "")
    yield Row(
        f"{case}, no match", none, size, "events", ratio=none.cpu_seconds / match.cpu_seconds,
        against="the match of the same query, processor time", goal=Goal("at most", 1.05),
        checked="count", note=f"match {match.cpu_seconds:.1f} CPU s",
    )  # fmt: skip


def _asked(setup: Setup, query: str, events: Path, told: str, *options: str) -> Timing:
    """The time of one command, whose first row begins with what is expected."""
    rows = setup.folder / "exists.csv"
    timing = of_process(
        partial(run_cepctl, "match", query, events, "--runner", "local", "-o", rows, *options)
    )
    lines = rows.read_text(encoding="utf-8").splitlines()[1:]
    if [line.split(",")[0] for line in lines] != ([told] if told else []):
        raise CheckFailed(f"{query} {' '.join(options)} told {lines[:1]}")
    return timing
