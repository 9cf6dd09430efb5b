"""Random cases with bounds of the engines lowered: an answer is refused by name, or it is the judge's.

    python -m tests.engines.lowered_bounds [EXAMPLES]

A bound that compiled code reads is part of the code: it can be lowered where nothing is compiled alone
(NUMBA_DISABLE_JIT=1), which is how `test_lowered_bounds` runs this.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

from hypothesis import note
from hypothesis import strategies as st

import cepctl.engines
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import ContradictionError, QueryTooLargeError
from tests.engines.agreement import EVERYDAY_EXAMPLES, assert_same_rows, check
from tests.engines.clock_cases import ClockCase, clock_cases
from tests.engines.confidence.given.given_cases import with_given
from tests.engines.confidence.intervals.random_intervals import lasting_events, queries, streams
from tests.engines.confidence.intervals.test_shared_absences import COMBINATIONS
from tests.engines.confidence.occurrence.groups_agree import assert_same_groups, by_key, grouped
from tests.plans import plan_of
from tests.strategies import Case, any_cases, chain_cases, kleene_cases, negation_cases, next_match_cases

NOT_LOWERED = frozenset(
    {
        "MOST_RAISED",  # the degree of a curve
        "MOST_TOLD",  # bits of a number
        "MOST_BITS",  # the exponent of a float
        "MOST_TEXT",  # what Arrow can hold
        "MOST_COUNTED",  # what a float can hold
        "NO_MOST",  # no bound
        "MOST_SLOTS",  # working space of a kernel
        "MOST_PARTS",  # of a ring
        "AT_ONCE",  # unrolled by hand
        "WORK",  # the place of a counter
        "BOUND",
    }
)
_APART = frozenset({"worlds", "point", "runners", "rows", "diagnosis"})
"""Rooms that find no match."""
_ASKED = frozenset({"clocks", "given", "intervals", "occurrence"})
"""Rooms of methods that a query or its events have to ask for."""
_WORDS = ("BOUND", "MOST_", "MAX_", "AT_ONCE", "WORK", "FEW_")


def _is_bound(name: str, value: object) -> bool:
    bare = name.lstrip("_")
    named = any(bare.endswith(word) or bare.startswith(word) for word in _WORDS) or bare == "MOST"
    return type(value) is int and value > 1 and named and bare not in NOT_LOWERED


def _modules() -> list[ModuleType]:
    rooms = pkgutil.walk_packages(cepctl.engines.__path__, "cepctl.engines.")
    names = (each.name for each in rooms)
    return [importlib.import_module(name) for name in names if name.split(".")[2] not in _APART]


MODULES = _modules()


def bounds() -> Mapping[str, tuple[tuple[ModuleType, str], ...]]:
    """Every bound by its name and value, and all modules that know it."""
    found: dict[str, list[tuple[ModuleType, str]]] = {}
    for module in MODULES:
        for name, value in vars(module).items():
            if _is_bound(name, value):
                found.setdefault(f"{name.lstrip('_')} {value}", []).append((module, name))
    return {name: tuple(places) for name, places in found.items()}


BOUNDS = bounds()


@contextmanager
def lowered(chosen: Mapping[str, int]) -> Iterator[None]:
    """These bounds are lower."""
    places = [(place, value) for name, value in chosen.items() for place in BOUNDS[name]]
    before = [getattr(*place) for place, _ in places]
    try:
        for (module, name), value in places:
            setattr(module, name, value)
        yield
    finally:
        for ((module, name), _), value in zip(places, before, strict=True):
            setattr(module, name, value)


@dataclass(frozen=True)
class Lowered:
    """A case, and bounds that are lower: some after the other."""

    case: ClockCase
    chosen: tuple[Mapping[str, int], ...]
    lasting: bool = False


def _at_work(case: ClockCase, lasting: bool) -> list[str]:
    """The bounds of the rooms that a case may pass."""
    rooms = {"search", "solve", "event", "confidence"} if not lasting else {"intervals"}
    rooms |= {"occurrence"} if " GROUP BY " in case.query else set()
    rooms |= {"given"} if " GIVEN " in case.query else set()
    rooms |= {"clocks"} if case.clocks else set()
    return [name for name, places in BOUNDS.items() if {room_of(each) for each, _ in places} & rooms]


def room_of(module: ModuleType) -> str:
    """The room of engines that a module is in; what only some cases pass is a room for itself."""
    room, *inner = module.__name__.split(".")[2:]
    return inner[0] if inner and inner[0] in _ASKED else room


def _on_no_clock(case: Case) -> ClockCase:
    return ClockCase(case.query, case.events, {})


def _points() -> st.SearchStrategy[ClockCase]:
    every = any_cases() | negation_cases() | next_match_cases() | chain_cases() | kleene_cases()
    cases = every | grouped(every) | with_given(every) | with_given(grouped(every))
    return cases.map(_on_no_clock) | clock_cases(cases)


@st.composite
def _without_separators(draw: st.DrawFn) -> ClockCase:
    """Keys of events each of which is compared with a constant alone: their unions have no separators."""
    asked = [
        f"{name}.{draw(st.sampled_from(['start', 'end']))} {draw(st.sampled_from(['<=', '>=']))} "
        f"'1970-01-01T00:00:00.{draw(st.integers(2, 5)):03}Z'"
        for name in "ab"
    ]
    query = f"PATTERN ISEQ(A a, B b) WHERE {' AND '.join(asked)} GROUP BY ()"
    events = [draw(lasting_events(f"{kind}{number}", kind)) for kind in "AB" for number in range(2)]
    return ClockCase(query, tuple(events), {})


_LASTING = st.one_of(
    *COMBINATIONS.values(),
    st.builds(ClockCase, queries(), streams(), st.just({})),
    st.builds(ClockCase, queries().map(lambda query: f"{query} GROUP BY ()"), streams(), st.just({})),
)
_LOWER = st.sampled_from([0, 1, 1, 2, 3, 5, 10, 30, 100])


@st.composite
def lowered_cases(draw: st.DrawFn, cases: st.SearchStrategy[ClockCase], *, lasting: bool) -> Lowered:
    """A case, and several times one bound lowered, or a few."""
    case = draw(cases)
    names = _at_work(case, lasting)
    chosen = []
    for _ in range(6):
        some = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
        chosen.append({name: _possible(name, draw(_LOWER)) for name in some})
    return Lowered(case, tuple(chosen), lasting)


KINDS = {
    "points": lowered_cases(_points(), lasting=False),
    "events that last": lowered_cases(_LASTING, lasting=True),
    "unions without separators": lowered_cases(_without_separators(), lasting=True),
}


def _possible(name: str, value: int) -> int:
    """A block holds something, and a table of states is as long as a power of two."""
    if "MOST_STATES" in name:
        return 1 << min(value, 4)
    return max(value, int("AT_ONCE" in name or "MOST_STARTS" in name))


def right_or_refused(lowered_case: Lowered) -> None:
    """The rows or keys of the judge, but for those that are refused."""
    case = lowered_case.case
    plan = plan_of(case.query, case.clocks, lasting=lowered_case.lasting)
    if plan.never is not None:
        return
    try:
        expected = (match_table if plan.group_by is None else group_table)(plan, case.table)
    except (QueryTooLargeError, ContradictionError):
        return
    for chosen in lowered_case.chosen:
        try:
            with lowered(chosen):
                found = match_events(plan, case.table)
        except QueryTooLargeError:
            continue
        note(f"{chosen}")
        if plan.group_by is None:
            assert_same_rows(expected, found)
            continue
        refused = [key for key, row in by_key(found, plan).items() if row["occurrence"] is None]
        assert_same_groups(plan, expected, found, refused)


def main(arguments: list[str]) -> None:
    """So many examples, or the everyday number."""
    assert os.environ.get("NUMBA_DISABLE_JIT") == "1", "kernels are compiled: their bounds cannot be lowered"
    for cases in KINDS.values():
        check(cases, right_or_refused, int(arguments[0]) if arguments else EVERYDAY_EXAMPLES)


if __name__ == "__main__":
    main(sys.argv[1:])
