"""Hypothesis strategies that move small cases to the ends of time, with durations as long as time.

An event keeps its width and goes to one of three places: the beginning, the middle and the end of time, so
that ticks of one match are up to 2^63 apart.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import strategies as st

from cepctl.schema import EARLIEST_TICK, LATEST_TICK
from tests.plans import Event
from tests.strategies import Case

_SPAN = 24
"""More ticks than a small case takes."""
PLACES = {"beginning": EARLIEST_TICK + 1, "middle": 0, "end": LATEST_TICK - _SPAN}
"""Where tick 0 of a small case goes."""
_FAR_DURATIONS = (0, 0, LATEST_TICK - _SPAN, LATEST_TICK, 2 * LATEST_TICK - _SPAN, 2 * LATEST_TICK, 10**20)
_DURATION = re.compile(r"(\d+) ticks")


@st.composite
def far_cases(draw: st.DrawFn, cases: st.SearchStrategy[Case]) -> Case:
    """A case whose events lie at up to three places of time, and whose durations may reach between them."""
    case = draw(cases)
    places = draw(st.sampled_from([("end",), ("beginning",), ("beginning", "end"), tuple(PLACES)]))
    events = tuple(moved(event, PLACES[draw(st.sampled_from(places))]) for event in case.events)
    query = _DURATION.sub(lambda found: _longer(found, draw(st.sampled_from(_FAR_DURATIONS))), case.query)
    return Case(query, events)


def moved(event: Event, by: int) -> Event:
    """An event at another place of time."""
    pmf = event.pmf and tuple((lo + by, hi + by, p) for lo, hi, p in event.pmf)
    return replace(event, lower=event.lower + by, upper=event.upper + by, pmf=pmf)


def _longer(found: re.Match[str], by: int) -> str:
    return f"{int(found[1]) + by} ticks"
