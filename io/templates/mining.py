"""Templates mined from the words of messages: what stands in one place and varies enough becomes a wildcard.

As in Drain (He et al., ICWS 2017) messages are compared only with those of as many words, word by word, after
what surely varies was masked.  Drain takes messages one by one, so its templates depend on their order, and
two messages that share half of their words are one kind.  Here all messages are there at once, each text
once: those that are the same but for one place are one kind if enough different words stand in that place,
and it is done again until nothing changes, so the order plays no part.  How many are enough depends on what
the words are:

    words                                        enough
    values of one key, key=value                 2
    after the word `user`                        2
    all with masked parts                        2
    some with masked parts                       3
    identifiers (a_b, a.b, aB)                   4
    plain words                                  6, in the first place 8
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from cepctl.io.contract.message_template import WILDCARD
from cepctl.numeric.arrays import Hashes

Words = tuple[str, ...]

_ALIKE, _SOME_MASKED, _IDENTIFIERS, _PLAIN, _FIRST = 2, 3, 4, 6, 8
_PLAIN_WORD = re.compile(r"[\[({<\"'*]*[A-Za-z][A-Za-z'-]*[\"'.,:;)\]}>*!?]*")
_KEYED = re.compile(r"([\[({\"']*[A-Za-z][\w.-]*=)\S")
_USER = "user"


def mined(messages: Sequence[Words]) -> dict[Words, Words]:
    """The template of each of these different messages.

    Examples
    --------
    >>> found = mined([("user", "ann", "in"), ("user", "bob", "in"), ("disk", "full")])
    >>> [" ".join(template) for template in found.values()]
    ['user <*> in', 'user <*> in', 'disk full']
    """
    by_length = defaultdict(list)
    for words in messages:
        by_length[len(words)].append(words)
    found: dict[Words, Words] = {}
    for alike in by_length.values():
        found.update(_mined(sorted(alike)))
    return found


def _mined(messages: list[Words]) -> dict[Words, Words]:
    """As `mined`, of messages of as many words, in order."""
    template_of = {words: words for words in messages}
    templates = messages
    while True:
        changes = _changes(templates)
        if not changes:
            return template_of
        template_of = {words: changes.get(t, t) for words, t in template_of.items()}
        templates = sorted(set(template_of.values()))


def _changes(templates: list[Words]) -> dict[Words, Words]:
    """What templates become one, the largest groups first; a template changes once at a time."""
    groups = []
    for place, members in _same_but_for_one(templates):
        varying = {templates[member][place] for member in members}
        if len(varying) >= _enough(templates[members[0]], place, varying):
            groups.append((-len(members), place, members))
    changes: dict[Words, Words] = {}
    for _, place, members in sorted(groups):
        left = [templates[member] for member in members if templates[member] not in changes]
        varying = {words[place] for words in left}
        if len(left) < _ALIKE or len(varying) < _enough(left[0], place, varying):
            continue
        new = (*left[0][:place], _common(varying), *left[0][place + 1 :])
        changes.update({words: new for words in left if words != new})
    return changes


def _same_but_for_one(templates: list[Words]) -> list[tuple[int, list[int]]]:
    """Templates that differ in one place alone: the place, and which they are."""
    count = len(templates)
    length = len(templates[0]) if templates else 0
    if count < _ALIKE or not length:
        return []
    numbers: dict[str, int] = {}
    codes = np.array([[numbers.setdefault(word, len(numbers)) for word in words] for words in templates])
    hashes = _mixed(codes.astype(np.uint64), np.arange(length, dtype=np.uint64))
    whole = hashes.sum(axis=1, dtype=np.uint64)
    found = []
    for place in range(length):
        rest = whole - hashes[:, place]
        order = np.argsort(rest, kind="stable")
        bounds = np.flatnonzero(np.diff(rest[order])) + 1
        for members in np.split(order, bounds)[: len(bounds) + 1]:
            if len(members) >= _ALIKE:
                found.append((place, members.tolist()))
    return found


def _mixed(codes: Hashes, places: Hashes) -> Hashes:
    """A number for each word in its place, such that sums of them tell the words (splitmix64)."""
    mixed: Hashes = codes * np.uint64(0x9E3779B97F4A7C15) + (places + np.uint64(1)) * np.uint64(
        0xBF58476D1CE4E5B9
    )
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _enough(words: Words, place: int, varying: set[str]) -> int:
    """How many different words make a place a variable one."""
    if all(word == WILDCARD for number, word in enumerate(words) if number != place):
        return _never(varying)
    named = varying - {WILDCARD}
    keys = {found[1] if (found := _KEYED.match(word)) else None for word in named}
    if len(keys) == 1 and None not in keys:
        return _ALIKE
    bare = [word for word in named if WILDCARD not in word]
    if not bare or (place and words[place - 1].strip("=:").lower() == _USER):
        return _ALIKE
    plain = all(_PLAIN_WORD.fullmatch(word) for word in bare)
    enough = _PLAIN if plain else _IDENTIFIERS
    if len(bare) < len(varying):
        enough = min(enough, _SOME_MASKED)
    return max(enough, _FIRST) if place == 0 else enough


def _never(varying: set[str]) -> int:
    return len(varying) + 1


def _common(varying: set[str]) -> str:
    """A wildcard, with the key that all words have."""
    keys = {found[1] if (found := _KEYED.match(word)) else None for word in varying}
    key = keys.pop() if len(keys) == 1 else None
    return f"{key}{WILDCARD}" if key is not None else WILDCARD
