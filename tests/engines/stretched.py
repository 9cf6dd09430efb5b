"""The same case with wider intervals: every tick becomes several, and sums of masses round.

What was a certain match still is one; and what misses 1 by less than a world has as its probability is one.
"""

from __future__ import annotations

import re
from dataclasses import replace

from cepctl.clocks.shared import Clocks
from cepctl.engines.event.match import match_events
from cepctl.errors import ContradictionError, QueryTooLargeError
from tests.engines.clock_cases import ClockCase
from tests.plans import Event, plan_of

_Mass = tuple[tuple[int, int, float], ...]
_NEARLY = 1e-12


def certain_ones_are_told(case: ClockCase, *, lasting: bool) -> None:
    """No confidence or occurrence is just below 1, or above."""
    wide = stretched(case, 7)
    plan = plan_of(wide.query, wide.clocks, lasting=lasting)
    if plan.never is not None:
        return
    try:
        rows = match_events(plan, wide.table).to_pylist()
    except (QueryTooLargeError, ContradictionError):
        return
    for row in rows:
        for name in ("confidence", "occurrence"):
            found = row.get(name)
            assert found is None or found == 1.0 or found < 1.0 - _NEARLY, f"{name} {found!r} of {row}"


def stretched(case: ClockCase, ticks: int) -> ClockCase:
    """Each tick of a case becomes so many."""
    query = re.sub(r"(\d+) tick", lambda found: f"{int(found[1]) * ticks} tick", case.query)
    query = re.sub(r"00\.(\d{3})Z", lambda found: f"00.{int(found[1]) * ticks:03}Z", query)
    clocks: Clocks = {name: _wider(offset, ticks) or () for name, offset in case.clocks.items()}
    return ClockCase(query, tuple(_stretched(event, ticks) for event in case.events), clocks)


def _stretched(event: Event, ticks: int) -> Event:
    more = (ticks - 1) * (1 if event.clock is None else 2)
    wide = replace(
        event,
        lower=event.lower * ticks,
        upper=event.upper * ticks + more,
        pmf=_wider(event.pmf, ticks),
        end_pmf=_wider(event.end_pmf, ticks),
    )
    if event.end_lower is not None and event.end_upper is not None:
        wide = replace(wide, end_lower=event.end_lower * ticks, end_upper=event.end_upper * ticks + more)
    if event.length_lower is not None:
        wide = replace(wide, length_lower=event.length_lower * ticks)
    if event.length_upper is not None:
        wide = replace(wide, length_upper=event.length_upper * ticks + ticks - 1)
    return wide


def _wider(mass: _Mass | None, ticks: int) -> _Mass | None:
    return mass and tuple((lo * ticks, hi * ticks + ticks - 1, p) for lo, hi, p in mass)
