"""The cases of a seed: the case of each number is the same on any machine, on any number of cores."""

from __future__ import annotations

from random import Random

from tests.fuzzing.constructs import drawn_constructs
from tests.fuzzing.drawn_conditions import drawn_query
from tests.fuzzing.drawn_events import drawn_events
from tests.fuzzing.drawn_laws import drawn_laws
from tests.fuzzing.drawn_patterns import drawn_pattern
from tests.fuzzing.queries import Case


def drawn_case(seed: str, number: int, only: frozenset[str] = frozenset()) -> Case:
    """Case `number` of a seed, which is any word, with all constructs of `only`."""
    rng = Random(f"{seed} {number}")
    wanted = drawn_constructs(rng, only)
    pattern = drawn_pattern(rng, wanted)
    query = drawn_query(rng, wanted, pattern)
    events, clocks = drawn_events(rng, wanted, pattern)
    setting = rng.random()
    laws = drawn_laws(rng) if "laws" in wanted else ()
    return Case(query, events, clocks, laws, wanted.check, setting)
