"""Random cases with shared clocks: any random case, some of whose events share one to four clocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks, Offset
from tests.plans import Event, event_table, on
from tests.strategies import LEVELS, Case, any_cases, chain_cases

WORLDS = 20_000
OFFSETS: tuple[Offset, ...] = (
    ((-1, 1, 1.0),),
    ((0, 1, 1.0),),
    ((-2, 2, 1.0),),
    ((0, 0, 0.25), (2, 3, 0.75)),
    ((-3, -1, 0.5), (0, 0, 0.25), (2, 2, 0.25)),
    ((1, 1, 1.0),),
)


@dataclass(frozen=True)
class ClockCase:
    """A query, the events that it runs on, and the clocks of these."""

    query: str
    events: tuple[Event, ...]
    clocks: Clocks

    @cached_property
    def table(self) -> pa.Table:
        return event_table(self.events)


@st.composite
def clock_cases(draw: st.DrawFn, cases: st.SearchStrategy[Case]) -> ClockCase:
    """A case whose events have clocks; of few worlds, so that the judge can visit them."""
    case = draw(cases)
    names = ["n", "m", "k", "l"][: draw(st.integers(1, 4))]
    clocks = {name: draw(st.sampled_from(OFFSETS)) for name in names}
    events, used, worlds = [], set(), 1
    for event in case.events:
        name = draw(st.sampled_from([*names, names[0], None]))
        if name is not None and name not in used:
            size = sum(hi - lo + 1 for lo, hi, _ in clocks[name])
            name = name if worlds * size <= WORLDS else None
            worlds *= size if name is not None else 1
        if name is not None:
            used.add(name)
        sharp = worlds * _support(event) > WORLDS or draw(st.integers(0, 2)) == 0
        own = replace(event, upper=event.lower, pmf=None) if sharp else event
        worlds *= _support(own)
        events.append(own if name is None else on(name, clocks, own))
    return ClockCase(case.query, tuple(events), {name: clocks[name] for name in sorted(used)})


def _support(event: Event) -> int:
    return sum(hi - lo + 1 for lo, hi, _ in event.pmf or ((event.lower, event.upper, 1.0),))


def clocked_any_cases() -> st.SearchStrategy[ClockCase]:
    """Chains, or everything at once, with clocks."""
    return clock_cases(chain_cases() | any_cases())


CLOCK_LEVELS = {name: clock_cases(cases) for name, cases in LEVELS.items()}
"""Random cases by construct, with clocks."""
