"""Hypothesis strategies: random queries over every construct, with random small streams.

A case is a query text and a few events, of at most 5,000 possible worlds.  The levels add
one construct at a time, so that an engine can be tested construct by construct; `any_cases` draws
from all of them.  What semantics.md refuses by name is never drawn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import pyarrow as pa
from hypothesis import strategies as st

from tests.plans import Event, event_table
from tests.random_conditions import keys, random_conditions, return_columns
from tests.random_events import streams
from tests.random_patterns import (
    ANY,
    NEXT,
    PARTITION,
    STRICT,
    Level,
    choices,
    needs_window,
    pattern_text,
    random_blocks,
    twins,
)

WORLDS = (300, 300, 300, 1_000, 5_000)
"""How many possible worlds a case may have: most often few, for the time that visiting them takes."""


@dataclass(frozen=True)
class Case:
    """A query and the events that it runs on."""

    query: str
    events: tuple[Event, ...]

    @cached_property
    def table(self) -> pa.Table:
        return event_table(self.events)


# --- levels --------------------------------------------------------------------------------


def chain_cases() -> st.SearchStrategy[Case]:
    """SEQ of single components, any match, with or without a window."""
    return cases(Level())


def next_match_cases() -> st.SearchStrategy[Case]:
    return cases(Level(strategies=(NEXT,)))


def contiguity_cases() -> st.SearchStrategy[Case]:
    return cases(Level(strategies=(STRICT, PARTITION)))


def negation_cases(*strategies: str) -> st.SearchStrategy[Case]:
    """Negations inside, leading, trailing and several in a row; under any match unless told."""
    return cases(Level(strategies=strategies or (ANY,), negation=True))


def and_cases(*strategies: str) -> st.SearchStrategy[Case]:
    """AND groups, under any match unless told."""
    return cases(Level(strategies=strategies or (ANY,), groups=True))


def kleene_cases(*strategies: str) -> st.SearchStrategy[Case]:
    """Kleene plus in any position, several per pattern: sets, under any match unless told."""
    return cases(Level(strategies=strategies or (ANY,), kleene=True))


def quantified_cases(*strategies: str) -> st.SearchStrategy[Case]:
    """Components that may be absent, and groups of a number of events, under any match unless told."""
    level = Level(strategies=strategies or (ANY,), kleene=True, quantified=True, negation=True)
    if strategies:
        return cases(level)
    return cases(replace(level, negation=False, groups=True)) | cases(replace(level, order=True))


def left_out_cases() -> st.SearchStrategy[Case]:
    """A set that may be absent under next match, beside other sets and single events."""
    level = Level(strategies=(NEXT,), kleene=True, left_out=True)
    return cases(level) | cases(replace(level, negation=True)) | cases(replace(level, timing=True))


def sequence_cases() -> st.SearchStrategy[Case]:
    """Kleene plus under predicates over order."""
    return cases(Level(kleene=True, order=True))


def run_cases(*strategies: str) -> st.SearchStrategy[Case]:
    """Kleene plus under predicates over order, where other events decide."""
    level = Level(strategies=strategies, kleene=True, runs=True)
    return cases(level) | cases(replace(level, negation=True, timing=True))


def read_set_cases(*strategies: str) -> st.SearchStrategy[Case]:
    """Kleene sets that what follows them reads; no event fits both, which the event engine refuses."""
    level = Level(strategies=strategies, kleene=True, read=True)
    return (cases(level) | cases(replace(level, negation=True))).filter(_is_told_apart)


def running_cases() -> st.SearchStrategy[Case]:
    """A running group at the end, of any kind, behind whatever next match has."""
    level = Level(strategies=(NEXT,), kleene=True, running=True)
    return (
        cases(level)
        | cases(replace(level, negation=True, timing=True))
        | cases(replace(level, runs=True))
        | cases(replace(level, quantified=True))
    )


def repeated_cases(*strategies: str) -> st.SearchStrategy[Case]:
    """A `SEQ(...)+` beside single events and absences; conditions within a repetition, and of all of them."""
    level = Level(strategies=strategies or (ANY,), repeated=True, order=True)
    beside = replace(level, groups=True) if level.strategies == (ANY,) else replace(level, timing=True)
    readings = cases(replace(level, choice=True)) | cases(replace(level, quantified=True))
    return cases(level) | cases(replace(level, negation=True, timing=True)) | cases(beside) | readings


def _is_told_apart(case: Case) -> bool:
    """Whether no type of a group is one of the component after it."""
    found = re.findall(r"(!?)([\w|*]+)(\+?) \w+(?:\[\])?[,)]", case.query)
    bound = [(set(types.split("|")), group) for negated, types, group in found if not negated]
    return not any(
        group and (types & after or "*" in types | after) for (types, group), (after, _) in pairwise(bound)
    )


def or_cases(*strategies: str) -> st.SearchStrategy[Case]:
    """OR inside SEQ: a component, or another in its place."""
    return cases(Level(strategies=strategies or (ANY,), choice=True))


def twin_cases(*strategies: str) -> st.SearchStrategy[Case]:
    """OR of two whole patterns that produce the same signatures, but not in the same worlds."""
    return cases(Level(strategies=strategies or (ANY,), twin=True))


def alone_or_group_cases(*strategies: str) -> st.SearchStrategy[Case]:
    """OR of alternatives that bind the same event once alone and once as a Kleene group."""
    level = Level(strategies=strategies or (ANY,), kleene=True, twin=True)
    return cases(level) | cases(replace(level, twin=False, choice=True))


def timing_cases(*strategies: str) -> st.SearchStrategy[Case]:
    return cases(Level(strategies=strategies or (ANY,), timing=True))


def group_timing_cases(*strategies: str) -> st.SearchStrategy[Case]:
    """Timing between groups, and between groups and absent events: it speaks of each member."""
    return cases(Level(strategies=strategies or (ANY,), timing=True, kleene=True, negation=True)) | cases(
        Level(strategies=strategies or (ANY,), timing=True, kleene=True)
    )


def any_cases() -> st.SearchStrategy[Case]:
    """Everything at once, under every strategy."""
    every = Level(negation=True, kleene=True, choice=True, twin=True, timing=True)
    return cases(replace(every, groups=True, order=True)) | cases(
        replace(every, strategies=(NEXT, STRICT, PARTITION))
    )


@st.composite
def cases(draw: st.DrawFn, level: Level) -> Case:
    """One case of a level."""
    strategy = draw(st.sampled_from(level.strategies))
    blocks = draw(random_blocks(level))
    parts = [part for block in blocks for part in block]
    twin = draw(twins(level, blocks, strategy)) if level.twin and draw(st.booleans()) else []
    choice = draw(choices(level, blocks)) if level.choice and not twin else []
    shared = [part for part in parts if part not in choice]
    patterns = [pattern_text(each, choice) for each in (blocks, twin) if each]
    conditions = [
        *draw(random_conditions(level, strategy, shared, choice)),
        *draw(random_conditions(level, strategy, [part for block in twin for part in block], [])),
        *draw(keys(strategy)),
    ]
    pattern = f"OR({', '.join(patterns)})" if twin else patterns[0]
    clauses = [f"PATTERN {pattern}"]
    if conditions:
        clauses.append(f"WHERE {' AND '.join(conditions)}")
    clauses.append(f"STRATEGY {strategy}")
    if any(needs_window(strategy, each, choice) for each in (blocks, twin) if each) or draw(st.booleans()):
        clauses.append(f"WITHIN {draw(st.sampled_from([5, 6, 8, 4, 3, 10, 2, 1]))} ticks")
    if draw(st.integers(0, 3)) == 0:
        columns = st.sampled_from(return_columns(level, parts))
        clauses.append(f"RETURN {', '.join(draw(st.lists(columns, min_size=1, max_size=3, unique=True)))}")
    wanted = [part.types.split("|")[0].replace("*", "A") for part in parts]
    return Case(" ".join(clauses), draw(streams(wanted, draw(st.sampled_from(WORLDS)))))


LEVELS: dict[str, st.SearchStrategy[Case]] = {
    "chains": chain_cases(),
    "next match": next_match_cases(),
    "contiguity": contiguity_cases(),
    "negation": negation_cases(),
    "negation under next match and contiguity": negation_cases(NEXT, STRICT, PARTITION),
    "AND": and_cases(ANY, NEXT, STRICT, PARTITION),
    "Kleene sets": kleene_cases(),
    "Kleene sequences": sequence_cases(),
    "Kleene under next match": kleene_cases(NEXT),
    "runs": run_cases(NEXT),
    "sequences under contiguity": run_cases(STRICT, PARTITION),
    "sets that are read under next match": read_set_cases(NEXT),
    "Kleene sets that may be absent under next match": left_out_cases(),
    "Kleene under contiguity": kleene_cases(STRICT, PARTITION),
    "quantified Kleene groups": quantified_cases(),
    "quantified Kleene groups under contiguity": quantified_cases(STRICT, PARTITION),
    "OR": or_cases(),
    "OR under next match and contiguity": or_cases(NEXT, STRICT, PARTITION),
    "OR of whole patterns": twin_cases(),
    "OR of whole patterns under next match and contiguity": twin_cases(NEXT, STRICT, PARTITION),
    "OR of one event alone and in a Kleene group": alone_or_group_cases(),
    "OR of one event alone and in a Kleene group under next match and contiguity": alone_or_group_cases(
        NEXT, STRICT, PARTITION
    ),
    "timing": timing_cases(),
    "timing under next match and contiguity": timing_cases(NEXT, STRICT, PARTITION),
    "timing of groups": group_timing_cases(),
    "timing of groups under next match and contiguity": group_timing_cases(NEXT, STRICT, PARTITION),
    "everything": any_cases(),
}
"""Random cases by construct: what every way of matching is held to."""
