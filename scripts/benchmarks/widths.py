"""Whether absences cost the same at any width: matches that rivals can break, and ticks that get finer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine import NO_CAP
from results import Goal, Row, Setup, Timing, check_equal
from workloads import appendix_c, irregular, plan_for

from cepctl.engines.event.match import match_events

HALF_WIDTH = 50
FINER = (1, 100, 10_000)
"""Spacing and window grow along, so that matches and rivals stay the same."""
CHAIN = "SEQ(E a, E b, E c) WHERE a.val % 20 = 3 AND b.val % 20 = 9 AND c.val % 20 = 15"
PAIR = "WHERE a.val % 20 = 3 AND n.val % 20 = 9 AND b.val % 20 = 15"


@dataclass(frozen=True)
class Case:
    """A pattern on so many events, `apart` ticks from one to the next at d = 50."""

    name: str
    pattern: str
    strategy: str
    events: int
    apart: int = 1
    window: int = 100
    regular: bool = True

    @property
    def at_random_distances(self) -> Case:
        """The same where no match is another one moved in time, so that each is measured."""
        return replace(self, name=f"{self.name}, at random distances", regular=False)


CASES = (
    Case("next match", CHAIN, "skip_till_next_match", 4_000),
    Case("inner negation", f"SEQ(E a, !E n, E b) {PAIR}", "skip_till_any_match", 4_000),
    Case("leading negation", f"SEQ(!E n, E a, E b) {PAIR}", "skip_till_any_match", 4_000),
    Case("trailing negation", f"SEQ(E a, E b, !E n) {PAIR}", "skip_till_any_match", 4_000),
    Case("contiguity", "SEQ(E a, E b) WHERE a.val % 20 = 3 AND b.val % 20 = 4", "strict_contiguity", 4_000,
         apart=20, window=1_000),
)  # fmt: skip


def widths(setup: Setup) -> Iterator[Row]:
    """Each case at three widths by turns, on one thread, by processor time."""
    for case in CASES:
        yield from _rows(setup, case)
    for case in CASES[:4]:
        yield from _rows(setup, case.at_random_distances)


def _rows(setup: Setup, case: Case) -> Iterator[Row]:
    size = 400 if setup.quick else case.events
    made = appendix_c if case.regular else irregular
    events = [made(size, HALF_WIDTH * finer, case.apart * finer) for finer in FINER]
    plans = [
        plan_for(f"PATTERN {case.pattern} WITHIN {case.window * finer} ticks STRATEGY {case.strategy}")
        for finer in FINER
    ]
    spent = [float("inf")] * len(FINER)
    clock = [float("inf")] * len(FINER)
    found = [0] * len(FINER)
    repeats = 1 if setup.quick else 3
    for _ in range(repeats + 1):
        for i, (plan, table) in enumerate(zip(plans, events, strict=True)):
            began, used = time.perf_counter(), time.process_time()
            found[i] = match_events(plan, table, NO_CAP).num_rows
            spent[i] = min(spent[i], time.process_time() - used)
            clock[i] = min(clock[i], time.perf_counter() - began)
    for i, finer in enumerate(FINER):
        if case.regular:
            check_equal("matches", found[i], found[0])
        yield Row(
            f"{case.name}, d = {HALF_WIDTH * finer:,}", Timing(clock[i], spent[i], repeats), found[i],
            ratio=spent[i] / found[i] / (spent[0] / found[0]),
            against=f"d = {HALF_WIDTH}, processor time of one thread, per match",
            goal=Goal("at most", 1.5) if i else None, checked="count" if case.regular else "",
        )  # fmt: skip
