"""Hypothesis strategies for random patterns over every construct.

What semantics.md refuses by name is never drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

ANY, NEXT, STRICT, PARTITION = (
    "skip_till_any_match",
    "skip_till_next_match",
    "strict_contiguity",
    "partition_contiguity",
)


@dataclass(frozen=True)
class Level:
    """The constructs that a case may contain; `choice` is an OR of components, `twin` one of patterns.

    With `runs` every group is read in order, and what follows may read it; with `read` without order.  With
    `running` each pattern ends with a running group; with `repeated` one component of it is a `SEQ(...)+`;
    with `left_out` one of two or more is a set that may be absent.
    """

    strategies: tuple[str, ...] = (ANY,)
    negation: bool = False
    groups: bool = False
    kleene: bool = False
    order: bool = False
    choice: bool = False
    twin: bool = False
    timing: bool = False
    quantified: bool = False
    runs: bool = False
    read: bool = False
    running: bool = False
    repeated: bool = False
    left_out: bool = False


@dataclass(frozen=True)
class Part:
    """One component of a drawn pattern; `t` is how WHERE refers to its events.

    `how_many` is what stands after its type, one of GROUP_QUANTIFIERS if it is a group.
    """

    variable: str
    types: str
    negated: bool = False
    kleene: bool = False
    how_many: str = ""
    running: bool = False
    repeated: bool = False

    def __str__(self) -> str:
        if self.repeated:
            return f"{self.types} {self.variable}[]"
        if self.kleene:
            return f"{'RUNNING ' if self.running else ''}{self.types}{self.how_many or '+'} {self.variable}[]"
        return f"{'!' if self.negated else ''}{self.types}{self.how_many} {self.variable}"

    @property
    def optional(self) -> bool:
        """Whether a match may bind nothing to it."""
        return self.how_many.startswith(("?", "*", "{0"))

    @property
    def t(self) -> str:
        return f"{self.variable}[i]" if self.kleene else self.variable


GROUP_QUANTIFIERS = ("*", "{0,1}", "{0,2}", "{1,2}", "{2}", "{2,}", "{1}", "{2,3}")


@st.composite
def quantified(draw: st.DrawFn, blocks: list[list[Part]]) -> list[list[Part]]:
    """The same, with numbers of events; at least one component is always there."""
    positive = [part for block in blocks for part in block if not part.negated]
    there = draw(st.sampled_from(positive))

    def with_number(part: Part) -> Part:
        several = st.sampled_from(["", *GROUP_QUANTIFIERS] if part.kleene else ["", "?"])
        changed = part if part.negated else replace(part, how_many=draw(several))
        return part if part == there and changed.optional else changed

    return [[with_number(part) for part in block] for block in blocks]


@st.composite
def random_blocks(draw: st.DrawFn, level: Level) -> list[list[Part]]:
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
    blocks = draw(quantified(blocks)) if level.quantified and not level.repeated else blocks
    if level.left_out:
        blocks = draw(with_set_left_out(blocks))
    if level.running:
        return draw(with_running_group(blocks))
    blocks = draw(with_repetitions(blocks)) if level.repeated else blocks
    return draw(optional_beside_repetitions(blocks)) if level.repeated and level.quantified else blocks


@st.composite
def with_set_left_out(draw: st.DrawFn, blocks: list[list[Part]]) -> list[list[Part]]:
    """The same, with a set that may be absent in place of one of two or more components."""
    alone = [block for block in blocks if len(block) == 1 and not block[0].negated]
    if sum(not block[0].negated for block in blocks) < 2:
        blocks = [*blocks, [Part("o", draw(st.sampled_from("ABC")))]]
    chosen = draw(st.sampled_from(alone))
    return [[replace(block[0], kleene=True, how_many="*")] if block is chosen else block for block in blocks]


@st.composite
def with_running_group(draw: st.DrawFn, blocks: list[list[Part]]) -> list[list[Part]]:
    """The same, with a running group as the last component."""
    last = [part for block in blocks for part in block if not part.negated][-1]
    how_many = draw(st.sampled_from(["", "", "{1,2}", "{2}", "{2,}"]))
    group = replace(last, kleene=True, running=True, how_many=how_many)
    return [[group if part == last else part for part in block] for block in blocks]


@st.composite
def with_repetitions(draw: st.DrawFn, blocks: list[list[Part]]) -> list[list[Part]]:
    """The same, with one to three components in turn in place of one that is there."""
    there = [place for place, block in enumerate(blocks) if not block[0].negated]
    place = draw(st.sampled_from(there))
    types = draw(st.lists(st.sampled_from(["A", "B", "C", "A", "B", "A|B"]), min_size=1, max_size=3))
    turn = [Part(name, each, kleene=True, repeated=True) for name, each in zip("xyw", types, strict=False)]
    return [*blocks[:place], turn, *blocks[place + 1 :]]


@st.composite
def optional_beside_repetitions(draw: st.DrawFn, blocks: list[list[Part]]) -> list[list[Part]]:
    """The same, where some of what stands beside repetitions may be absent."""
    return [
        block
        if len(block) > 1 or block[0].repeated or block[0].negated or draw(st.booleans())
        else [replace(block[0], how_many="?")]
        for block in blocks
    ]


@st.composite
def choices(draw: st.DrawFn, level: Level, blocks: list[list[Part]]) -> list[Part]:
    """A positive component, and another that may stand in its place: the members of an OR."""
    alone = [block[0] for block in blocks if len(block) == 1 and not (block[0].negated or block[0].repeated)]
    if not alone:
        return []
    part = draw(st.sampled_from(alone))
    # Often of the same type, so that both alternatives can produce one signature in one world.
    types = draw(st.sampled_from([part.types, part.types, "*", "A", "B"]))
    kleene = level.kleene and draw(st.booleans())
    name = draw(st.sampled_from(["z", part.variable])) if kleene == part.kleene else "z"
    return [part, Part(name, types, kleene=kleene)]


@st.composite
def twins(draw: st.DrawFn, level: Level, blocks: list[list[Part]], strategy: str) -> list[list[Part]]:
    """The pattern once more with other variables, and often another order, negation or group.

    Both produce the same signatures, but not in the same worlds.
    """
    twin = [[replace(part, variable=f"{part.variable}2") for part in block] for block in blocks]
    variation = draw(st.sampled_from(["none", "AND", "negation", *(["group"] if level.kleene else [])]))
    positive = [part for block in twin for part in block if not part.negated]
    if variation == "AND" and strategy == ANY and not any(part.kleene for part in positive):
        return [positive]
    if variation == "negation":
        twin.insert(draw(st.integers(0, len(twin))), [Part("n2", draw(st.sampled_from("ABC")), negated=True)])
    alone = [i for i, block in enumerate(twin) if len(block) == 1 and not block[0].negated]
    if variation == "group" and alone:
        place = draw(st.sampled_from(alone))
        twin[place] = [replace(twin[place][0], kleene=not twin[place][0].kleene)]
    return twin


def pattern_text(blocks: list[list[Part]], choice: list[Part]) -> str:
    pieces = []
    for block in blocks:
        if choice and block[0] == choice[0]:
            pieces.append(f"OR({', '.join(map(str, choice))})")
        elif block[0].repeated:
            pieces.append(f"SEQ({', '.join(map(str, block))})+")
        elif len(block) > 1:
            pieces.append(f"AND({', '.join(map(str, block))})")
        else:
            pieces.append(str(block[0]))
    return f"SEQ({', '.join(pieces)})"


def needs_window(strategy: str, blocks: list[list[Part]], choice: list[Part]) -> bool:
    last = [part for block in blocks for part in block if not part.negated][-1]
    trailing = [last, *choice] if last in choice else [last]
    trailing_kleene = any(part.kleene and not part.running for part in trailing)
    parts = [part for block in blocks for part in block]
    # What stands beside an absence may be absent, too.
    at_edge = any(
        part.negated for part in (parts if any(each.optional for each in parts) else (parts[0], parts[-1]))
    )
    return at_edge or (strategy == NEXT and trailing_kleene)
