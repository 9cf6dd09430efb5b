"""Random cases whose clocks are tied: those with shared clocks, and chains of these and of silent clocks."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from cepctl.clocks.ties import Clocks, ClockTie, tied
from tests.engines.clock_cases import CLOCK_LEVELS, ClockCase, clock_cases
from tests.fuzzing.drawn_events import drawn_chains
from tests.plans import Event, on
from tests.strategies import chain_cases


@st.composite
def tied_cases(draw: st.DrawFn, cases: st.SearchStrategy[ClockCase]) -> ClockCase:
    """A case some of whose clocks are tied."""
    case = draw(cases.filter(lambda case: bool(case.clocks)))
    return replace(case, clocks=drawn_chains(draw(st.randoms(use_true_random=False)), case.clocks))


TIED_LEVELS = {name: tied_cases(cases) for name, cases in CLOCK_LEVELS.items()}
"""Random cases by construct, with tied clocks."""
TIED_CHAINS = tied_cases(clock_cases(chain_cases()))

_UNIFORM = ((-2, 2, 1.0),)
WORKED_CLOCKS: Clocks = tied(
    {"n#1": _UNIFORM, "n#2": _UNIFORM, "n#3": _UNIFORM, "m#1": ((-1, 1, 1.0),)},
    [ClockTie("n#1", "n#2", 1), ClockTie("n#2", "n#3", 1)],
)
WORKED_READINGS = tuple(
    on(clock, WORKED_CLOCKS, Event(name, name.upper(), tick, tick))
    for name, tick, clock in (
        *(("a", 99, "n#1"), ("b", 100, "n#2"), ("c", 102, "n#2"), ("e", 200, "n#3")),
        *(("d", 101, "m#1"), ("f", 200, "m#1")),
    )
)
WORKED = [
    ("SEQ(A, B)", "24/35"),
    ("SEQ(A, C)", "1"),
    ("SEQ(A, D)", "29/35"),
    ("SEQ(D, C)", "22/35"),
    ("SEQ(A, B, D)", "2/5"),
    ("SEQ(A, D, C)", "16/35"),
    ("SEQ(A, !D, C)", "19/35"),
    ("SEQ(E, F)", "8/21"),
]
"""Queries on these readings and their exact confidences."""
