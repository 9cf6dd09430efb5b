"""Hypothesis strategies: random queries over every construct, with random small streams.

A case is a query text and a few events, of at most 5,000 possible worlds.  The levels add
one construct at a time, so that an engine can be tested construct by construct; `any_cases` draws
from all of them.  What semantics.md refuses by name is never drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import pyarrow as pa
from hypothesis import strategies as st

from tests.plans import Event, event_table
from tests.random_events import streams

WORLDS = (300, 300, 300, 1_000, 5_000)
"""How many possible worlds a case may have: most often few, for the time that visiting them takes."""

ANY, NEXT, STRICT, PARTITION = (
    "skip_till_any_match",
    "skip_till_next_match",
    "strict_contiguity",
    "partition_contiguity",
)


@dataclass(frozen=True)
class Case:
    """A query and the events that it runs on."""

    query: str
    events: tuple[Event, ...]

    @property
    def table(self) -> pa.Table:
        return event_table(self.events)


@dataclass(frozen=True)
class Level:
    """The constructs that a case may contain."""

    strategies: tuple[str, ...] = (ANY,)
    negation: bool = False
    groups: bool = False
    kleene: bool = False
    order: bool = False
    choice: bool = False
    timing: bool = False


@dataclass(frozen=True)
class Part:
    """One component of a drawn pattern; `t` is how WHERE refers to its events."""

    variable: str
    types: str
    negated: bool = False
    kleene: bool = False

    def __str__(self) -> str:
        if self.kleene:
            return f"{self.types}+ {self.variable}[]"
        return f"{'!' if self.negated else ''}{self.types} {self.variable}"

    @property
    def t(self) -> str:
        return f"{self.variable}[i]" if self.kleene else self.variable


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


def and_cases() -> st.SearchStrategy[Case]:
    return cases(Level(groups=True))


def kleene_cases(*strategies: str) -> st.SearchStrategy[Case]:
    """Kleene plus in any position, several per pattern: sets, under any match unless told."""
    return cases(Level(strategies=strategies or (ANY,), kleene=True))


def sequence_cases() -> st.SearchStrategy[Case]:
    """Kleene plus under predicates over order."""
    return cases(Level(kleene=True, order=True))


def or_cases(*strategies: str) -> st.SearchStrategy[Case]:
    return cases(Level(strategies=strategies or (ANY,), choice=True))


def timing_cases(*strategies: str) -> st.SearchStrategy[Case]:
    return cases(Level(strategies=strategies or (ANY,), timing=True))


def any_cases() -> st.SearchStrategy[Case]:
    """Everything at once, under every strategy."""
    every = Level(negation=True, kleene=True, choice=True, timing=True)
    return cases(replace(every, groups=True, order=True)) | cases(
        replace(every, strategies=(NEXT, STRICT, PARTITION))
    )


@st.composite
def cases(draw: st.DrawFn, level: Level) -> Case:
    """One case of a level."""
    strategy = draw(st.sampled_from(level.strategies))
    blocks = draw(_blocks(level))
    parts = [part for block in blocks for part in block]
    choice = draw(_choices(blocks)) if level.choice else None
    shared = [part for part in parts if choice is None or part not in choice]
    clauses = [
        f"PATTERN {_pattern(blocks, choice)}",
        *draw(_where(level, strategy, shared)),
        f"STRATEGY {strategy}",
    ]
    if _needs_window(strategy, blocks) or draw(st.booleans()):
        clauses.append(f"WITHIN {draw(st.sampled_from([5, 6, 8, 4, 3, 10, 2, 1]))} ticks")
    if draw(st.integers(0, 3)) == 0:
        columns = draw(st.lists(st.sampled_from(_columns(level, parts)), min_size=1, max_size=3, unique=True))
        clauses.append(f"RETURN {', '.join(columns)}")
    wanted = [part.types.split("|")[0].replace("*", "A") for part in parts]
    return Case(" ".join(clauses), draw(streams(wanted, draw(st.sampled_from(WORLDS)))))


# --- patterns ------------------------------------------------------------------------------


@st.composite
def _blocks(draw: st.DrawFn, level: Level) -> list[list[Part]]:
    """Components in blocks: one each, or two to three of an AND group."""
    names = iter("abcdefghijklmn")
    types = st.sampled_from(["A", "B", "C", "A", "B", "C", "A|B", "*"])
    blocks = []
    for _ in range(draw(st.sampled_from([2, 2, 3, 1] if level.kleene or level.groups else [2, 3, 3, 4, 1]))):
        size = draw(st.sampled_from([1, 2, 2, 3])) if level.groups else 1
        kleene = level.kleene and size == 1 and draw(st.booleans())
        blocks.append([Part(next(names), draw(types), kleene=kleene) for _ in range(size)])
    if level.negation:
        for _ in range(draw(st.integers(1, 2))):
            place = draw(st.integers(0, len(blocks)))
            blocks.insert(place, [Part(next(names), draw(types), negated=True)])
    return blocks


@st.composite
def _choices(draw: st.DrawFn, blocks: list[list[Part]]) -> list[Part]:
    """A positive component, and another that may stand in its place: the members of an OR."""
    single = [b[0] for b in blocks if len(b) == 1 and not b[0].negated and not b[0].kleene]
    if not single:
        return []
    part = draw(st.sampled_from(single))
    return [part, Part(draw(st.sampled_from(["z", part.variable])), draw(st.sampled_from(["A", "B", "C"])))]


def _pattern(blocks: list[list[Part]], choice: list[Part] | None) -> str:
    pieces = []
    for block in blocks:
        if choice and block[0] == choice[0]:
            pieces.append(f"OR({', '.join(map(str, choice))})")
        elif len(block) > 1:
            pieces.append(f"AND({', '.join(map(str, block))})")
        else:
            pieces.append(str(block[0]))
    return f"SEQ({', '.join(pieces)})"


def _needs_window(strategy: str, blocks: list[list[Part]]) -> bool:
    trailing_kleene = [part for block in blocks for part in block if not part.negated][-1].kleene
    return blocks[0][0].negated or blocks[-1][0].negated or (strategy == NEXT and trailing_kleene)


# --- conditions ----------------------------------------------------------------------------


@st.composite
def _where(draw: st.DrawFn, level: Level, strategy: str, parts: list[Part]) -> list[str]:
    """The WHERE clause over `parts`, or nothing."""
    pools = [_own_conditions(parts), _links(strategy, parts)]
    if level.kleene:
        pools.append(_group_conditions(strategy, parts))
    if level.order:
        pools.append(_order_conditions(parts))
    if level.timing:
        pools.append(_timings(parts))
    conditions = []
    for number, pool in enumerate(pools):
        # The plain conditions sometimes, the construct of the level most often.
        if pool and draw(st.integers(0, 3)) < (3 if number >= 2 else 1):
            conditions += draw(st.lists(st.sampled_from(pool), min_size=1, max_size=2, unique=True))
    keys = ["[k]", "[k, g]"]
    if strategy == PARTITION or draw(st.integers(0, 3)) == 0:
        conditions.append(draw(st.sampled_from(keys)))
    return [f"WHERE {' AND '.join(conditions)}"] if conditions else []


def _own_conditions(parts: list[Part]) -> list[str]:
    templates = ("{t}.x >= 1", "{t}.x < 3", "{t}.k = 'p'", "NOT ({t}.x = 0)", "({t}.x IS NULL OR {t}.x = 1)")
    return [template.format(t=part.t) for part in parts for template in templates]


def _links(strategy: str, parts: list[Part]) -> list[str]:
    templates = (
        "{a}.x = {b}.x",
        "{a}.k = {b}.k",
        "{a}.x <= {b}.x",
        "{a}.x + 1 > {b}.x",
        "{a}.k <> {b}.k",
        "({a}.x = {b}.x OR {a}.k = {b}.k)",
        "{a}.lower <= {b}.lower",
    )
    return [template.format(a=a.t, b=b.t) for a, b in _pairs(strategy, parts) for template in templates]


def _pairs(strategy: str, parts: list[Part]) -> list[tuple[Part, Part]]:
    """Two components that one predicate may link: not two negated; next-match refuses to read B+ later."""
    return [
        (a, b)
        for a, b in combinations(parts, 2)
        if not (a.negated and b.negated) and not (strategy == NEXT and (a.kleene or (b.kleene and a.negated)))
    ]


def _group_conditions(strategy: str, parts: list[Part]) -> list[str]:
    kleene = [part.variable for part in parts if part.kleene]
    alone = ("count({b}[]) <= 2", "count({b}[]) >= 2", "avg({b}[].x) >= 1", "sum({b}[].x) <= 2")
    linked = ("avg({b}[].x) >= {a}.x", "count({b}[].x) > {a}.x")
    return [template.format(b=b) for b in kleene for template in alone] + [
        template.format(a=a.t, b=b.variable)
        for a, b in _pairs(strategy, parts)
        if b.kleene and not a.kleene
        for template in linked
    ]


def _order_conditions(parts: list[Part]) -> list[str]:
    templates = (
        "{b}[i].x >= {b}[i-1].x",
        "{b}[i].x > max({b}[1..i-1].x)",
        "{b}[last].x >= {b}[first].x",
        "{b}[1].x <= avg({b}[].x)",
        "{b}[i].x <= {b}[1].x",
    )
    return [template.format(b=part.variable) for part in parts if part.kleene for template in templates]


def _timings(parts: list[Part]) -> list[str]:
    alone = ("{a}.time >= '1970-01-01T00:00:00.003Z'", "{a}.time < '1970-01-01T00:00:00.006Z'")
    linked = (
        "{b}.time - {a}.time <= 2 ticks",
        "{b}.time - {a}.time >= 2 ticks",
        "{a}.time < {b}.time",
        "{a}.time + 3 ticks <> {b}.time",
        "{a}.time + 1 ticks = {b}.time",
    )
    return [template.format(a=part.t) for part in parts for template in alone] + [
        template.format(a=a.t, b=b.t) for a, b in _pairs(ANY, parts) for template in linked
    ]


def _columns(level: Level, parts: list[Part]) -> list[str]:
    """What RETURN may ask of the positive components; to ask for an order makes groups sequences."""
    single = ("{v}.x + 1", "{v}", "{v}.k", "{v}.lower", "{v}.time")
    group = ("count({v}[])", "avg({v}[].x)", "sum({v}[].x)", "max({v}[].k)", "{v}")
    ordered = (*group, "{v}[last].x", "{v}[first].k")
    return [
        template.format(v=part.variable)
        for part in parts
        if not part.negated
        for template in ((ordered if level.order else group) if part.kleene else single)
    ]
