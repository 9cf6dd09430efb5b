"""Random patterns: chains of one to five components or groups, and absences in any of their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from tests.fuzzing.constructs import Wanted
from tests.fuzzing.queries import Group, Pattern, groups_of, parts_of
from tests.random_patterns import GROUP_QUANTIFIERS, Part

_POSITIVE, _ABSENT = "abcdefghijklmnopqrst", ("n1", "n2", "n3", "n4", "n5")


def drawn_pattern(rng: Random, wanted: Wanted) -> Pattern:
    """A pattern with the groups, absences and alternatives that are wanted."""
    names = iter(_POSITIVE)
    blocks = _blocks(rng, wanted, names)
    if "kleene" in wanted:
        if not any(isinstance(block, Part) for block in blocks):
            blocks.append(Part(next(names), _types(rng, wanted)))
        blocks = _with_groups(rng, blocks)
    if "running" in wanted and isinstance(blocks[-1], Part):
        blocks[-1] = replace(blocks[-1], kleene=True)
    if "repeated" in wanted:
        blocks = _with_repetitions(rng, blocks)
    if "negation" in wanted:
        blocks = _with_absences(rng, blocks, wanted)
    pattern: Pattern = Group("SEQ", tuple(blocks))
    if "or" in wanted:
        pattern = _with_choice(rng, Group("SEQ", tuple(blocks)), names, wanted)
    if "quantified" in wanted:
        pattern = _quantified(rng, pattern)
    if "running" in wanted:
        pattern = _with_running_group(pattern)
    return _plain(pattern)


def _blocks(rng: Random, wanted: Wanted, names: Iterator[str]) -> list[Pattern]:
    """One component each, or two to three in any order."""
    blocks: list[Pattern] = []
    together = "and" in wanted or ("intervals" in wanted and rng.random() < 0.5)
    place = rng.randrange(3)
    for number in range(rng.choice([1, 2, 2, 2, 3, 3, 3, 4, 5])):
        size = rng.choice([2, 2, 3]) if together and number == place % (number + 1) else 1
        members = tuple(Part(next(names), _types(rng, wanted)) for _ in range(size))
        word = rng.choice(["AND", "ISEQ", "ISEQ"]) if "intervals" in wanted else "AND"
        if size > 1 and "intervals" not in wanted:
            blocks.append(Group(word, _branches(rng, wanted, members, names)))
        else:
            blocks.append(members[0] if size == 1 else Group(word, members))
    return blocks


def _branches(
    rng: Random, wanted: Wanted, members: tuple[Part, ...], names: Iterator[str]
) -> tuple[Pattern, ...]:
    """Members of AND, sometimes one of them a sequence, with an absence inside, or a group."""
    place, form = rng.randrange(len(members)), rng.choice(["", "", "", "sequence", "absence", "group"])
    own: Pattern = members[place]
    if form == "group" and {"kleene", "any-match"} <= wanted.names:
        own = replace(members[place], kleene=True)
    elif form in ("sequence", "absence"):
        behind = Part(next(names), _types(rng, wanted))
        absent = [Part("n0", _absent_types(rng, wanted), negated=True)] if form == "absence" else []
        own = Group("SEQ", (members[place], *absent, behind))
    return (*members[:place], own, *members[place + 1 :])


def _types(rng: Random, wanted: Wanted) -> str:
    several = ["A|B"] if "bystanders" in wanted else ["A|B", "*"]
    return rng.choice(["A", "B", "C"] * 3 + several)


def _with_groups(rng: Random, blocks: list[Pattern]) -> list[Pattern]:
    """Some of the single components as Kleene groups, also adjacent ones."""
    alone = [place for place, block in enumerate(blocks) if isinstance(block, Part)]
    chosen = rng.sample(alone, min(rng.choice([1, 1, 2, 3]), len(alone)))
    return [
        replace(block, kleene=True) if isinstance(block, Part) and place in chosen else block
        for place, block in enumerate(blocks)
    ]


def _with_repetitions(rng: Random, blocks: list[Pattern]) -> list[Pattern]:
    """With one to three components in turn, in place of one block."""
    place, count = rng.randrange(len(blocks)), rng.choice([1, 2, 2, 3])
    turn = [
        Part(name, rng.choice(["A", "B", "C", "A|B"]), kleene=True, repeated=True) for name in "xyz"[:count]
    ]
    return [*blocks[:place], Group("SEQ+", tuple(turn)), *blocks[place + 1 :]]


def _quantified(rng: Random, pattern: Pattern) -> Pattern:
    """With numbers of events; of each part of an OR one component is always there, and in a place all are."""
    if isinstance(pattern, Part):
        return pattern
    if pattern.word == "OR":
        return replace(pattern, members=tuple(_quantified(rng, member) for member in pattern.members))
    choice = [part for group in groups_of(pattern) if group.word == "OR" for part in group.members]
    parts = [part for part in parts_of(pattern) if not (part.negated or part.repeated)]
    positive = [part for part in parts if part not in choice]
    always = rng.choice(positive) if positive and not choice else None
    chosen = {
        part: replace(part, how_many=rng.choice(GROUP_QUANTIFIERS if part.kleene else ("?",)))
        for part in positive
        if rng.random() < 0.5
    }
    if always in chosen and chosen[always].optional:
        del chosen[always]
    return _replaced(pattern, chosen)


def _with_running_group(pattern: Pattern) -> Pattern:
    """With RUNNING before what is bound last, where that is a group."""
    if isinstance(pattern, Part):
        return replace(pattern, running=pattern.kleene and not pattern.optional)
    if pattern.word == "OR":
        return replace(pattern, members=tuple(map(_with_running_group, pattern.members)))
    bound = [at for at, part in enumerate(pattern.members) if any(not p.negated for p in parts_of(part))]
    last = bound[-1]
    members = [*pattern.members]
    members[last] = _with_running_group(members[last])
    return replace(pattern, members=tuple(members))


def _replaced(pattern: Pattern, parts: Mapping[Part, Part]) -> Pattern:
    if isinstance(pattern, Part):
        return parts.get(pattern, pattern)
    return replace(pattern, members=tuple(_replaced(member, parts) for member in pattern.members))


def _with_absences(rng: Random, blocks: list[Pattern], wanted: Wanted) -> list[Pattern]:
    """Something absent in some of the places, at edges too, sometimes two in one place or in an ISEQ."""
    names = iter(_ABSENT)
    places = [place for place in range(len(blocks) + 1) if rng.random() < 0.4]
    places = places or [rng.randrange(len(blocks) + 1)]
    if rng.random() < (0.35 if "absent-together" in wanted else 0.2):
        places.append(rng.choice(places))
    found: list[Pattern] = list(blocks)
    wholes = iter(["uvw", "xyz"] if rng.random() < 0.4 else ["uvw"])
    for place in sorted(places[:4], reverse=True):
        absent: Pattern = Part(next(names), _absent_types(rng, wanted), negated=True)
        whole = next(wholes, None) if "absent-together" in wanted else None
        if whole is not None:
            size = rng.choice([2, 2, 3])
            parts = (Part(name, _absent_types(rng, wanted), negated=True) for name in whole[:size])
            absent = Group(rng.choice(["!SEQ", "!SEQ", "!AND"]), tuple(parts))
        beside = found[place] if place < len(blocks) else None
        if (
            isinstance(absent, Part)
            and isinstance(beside, Group)
            and beside.word == "ISEQ"
            and rng.random() < 0.5
        ):
            at = rng.randrange(len(beside.members) + 1)
            found[place] = replace(beside, members=(*beside.members[:at], absent, *beside.members[at:]))
        else:
            found.insert(place, absent)
    return found


def _absent_types(rng: Random, wanted: Wanted) -> str:
    return rng.choice(["N", "N", "M", "N|M", _types(rng, wanted)])


def _with_choice(rng: Random, chain: Group, names: Iterator[str], wanted: Wanted) -> Pattern:
    """An OR: of a component and another in its place, or of the whole pattern and another like it."""
    places = [
        place
        for place, member in enumerate(chain.members)
        if not any(part.negated for part in parts_of(member)) and not isinstance(member, Group)
    ]
    if places and rng.random() < 0.5:
        place = rng.choice(places)
        first = chain.members[place]
        assert isinstance(first, Part)
        types = rng.choice([first.types, first.types, _types(rng, wanted)])
        kleene = first.kleene if rng.random() < 0.7 else "kleene" in wanted
        name = first.variable if kleene == first.kleene and rng.random() < 0.5 else next(names)
        choice = Group("OR", (first, Part(name, types, kleene=kleene)))
        return replace(chain, members=(*chain.members[:place], choice, *chain.members[place + 1 :]))
    return Group("OR", (chain, _twin(rng, chain, wanted)))


def _twin(rng: Random, chain: Group, wanted: Wanted) -> Group:
    """The chain once more, with or without its variables: as it is, shorter, or with another absence."""
    form = rng.choice(["same", "renamed", "shorter", "absence", "absence", "group"])
    members: list[Pattern] = [_renamed(member) if form != "same" else member for member in chain.members]
    if form == "shorter" and len(members) > 1:
        del members[rng.randrange(len(members))]
    if form == "absence":
        members.insert(rng.randint(0, len(members)), Part("n9", rng.choice("ABCN"), negated=True))
    if form == "group" and "kleene" in wanted:
        members = [
            replace(each, kleene=not each.kleene) if isinstance(each, Part) and not each.negated else each
            for each in members
        ]
    if not any(not part.negated for member in members for part in parts_of(member)):
        return chain
    return replace(chain, members=tuple(members))


def _renamed(pattern: Pattern) -> Pattern:
    if isinstance(pattern, Part):
        return replace(pattern, variable=f"{pattern.variable}x")
    return replace(pattern, members=tuple(map(_renamed, pattern.members)))


def _plain(pattern: Pattern) -> Pattern:
    """Without SEQ around one group of several."""
    if isinstance(pattern, Group) and pattern.word == "SEQ" and len(pattern.members) == 1:
        inner = pattern.members[0]
        return inner if isinstance(inner, Group) and inner.word != "OR" else pattern
    return pattern
