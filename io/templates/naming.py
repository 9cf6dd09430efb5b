"""Names that read like words: of types from what messages begin with, of attributes from what they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cepctl.io.contract.message_template import OTHER, WILDCARD

_LONGEST = 60
_FEWEST_WORDS, _MOST_WORDS = 3, 6
_ENDS = " \t,;:=-([{<\"'.|/"
_KEY = re.compile(r"([A-Za-z][\w.-]{0,40})[=:][\"']?" + re.escape(WILDCARD))
_SIGNS = re.compile(r"[^\w.()-]+|\(\)|[()](?!\w)")
# What stands before a value and names it.
_NAMING = frozenset(
    (
        "user",
        "port",
        "pid",
        "uid",
        "gid",
        "block",
        "path",
        "file",
        "size",
        "status",
        "node",
        "host",
        "job",
        "task",
        "stage",
        "tid",
        "id",
    )
)
_SHAPES = (
    ("ip", re.compile(r"/?\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?")),
    ("block", re.compile(r"blk_-?\d+(?:_\d+)?")),
    ("uuid", re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")),
    ("path", re.compile(r"(?:[A-Za-z]:\\|(?:~|\.{1,2})?/[\w.@%+~-]+/)\S*")),
    ("duration", re.compile(r"<?\d{1,40}(?:[.,:]\d{1,40}){0,8}(?: ?(?:ms|us|ns|secs?|seconds?|mins?))")),
)
_PARTNERS = {"(": ")", "[": "]", "{": "}"}
_ENCLOSING = "()[]{}<>\"',;"


def type_names(templates: Sequence[tuple[str, ...]], taken: Iterable[str] = ()) -> list[str]:
    """A name for each template, all different, and different from those that are taken.

    Examples
    --------
    >>> type_names([("Accepted", "password", "for", "<*>", "from", "<*>"), ("size", "<*>"), ("<*>",)])
    ['Accepted password for', 'size', 'Message of 1 word']
    """
    names: list[str] = []
    used = {*taken, OTHER}
    for tokens in templates:
        name = next((each for each in _possible_names(tokens) if each not in used), None)
        if name is None:
            base, number = next(_possible_names(tokens)), 2
            while f"{base} ({number})" in used:
                number += 1
            name = f"{base} ({number})"
        used.add(name)
        names.append(name)
    return names


def _possible_names(tokens: tuple[str, ...]) -> Iterator[str]:
    """The words up to the first wildcard, then with more and more of the words behind it."""
    words = [(place, _said(token)) for place, token in enumerate(tokens)]
    said = [(place, word) for place, word in words if word]
    if not said:
        yield f"Message of {len(tokens)} word{'s' * (len(tokens) != 1)}"
        return
    first = next((place for place, token in enumerate(tokens) if WILDCARD in token), len(tokens))
    leading = sum(place < first for place, _ in said)
    least = min(max(leading, _FEWEST_WORDS), _MOST_WORDS, len(said))
    for count in range(least, len(said) + 1):
        name = _cut(" ".join(word for _, word in said[:count]))
        if name:
            yield name
    yield _cut(" ".join(word for _, word in said[:_MOST_WORDS])) or f"Message of {len(tokens)} words"


def _said(token: str) -> str:
    """What of a word does not vary; empty where that is no word."""
    bare = _SIGNS.sub(" ", token.replace(WILDCARD, "")).strip() if WILDCARD in token else token
    return bare if any(letter.isalpha() for letter in bare) else ""


def _cut(text: str) -> str:
    if len(text) > _LONGEST:
        text = text[:_LONGEST].rpartition(" ")[0] or text[:_LONGEST]
    return _paired(text.strip(_ENDS)).strip(_ENDS)


def _paired(text: str) -> str:
    """The text without brackets that have no partner.

    Examples
    --------
    >>> _paired("Selector]: no broker (of 3) {alive")
    'Selector: no broker (of 3) alive'
    """
    opened: list[int] = []
    alone: set[int] = set()
    for place, sign in enumerate(text):
        if sign in _PARTNERS:
            opened.append(place)
        elif opened and _PARTNERS[text[opened[-1]]] == sign:
            opened.pop()
        elif sign in _PARTNERS.values():
            alone.add(place)
    alone.update(opened)
    return "".join(sign for place, sign in enumerate(text) if place not in alone)


def variable_names(tokens: Sequence[str], values: Sequence[str]) -> tuple[str, ...]:
    """Names for the words with a wildcard: by key, the form of an example, the word before, else v1, v2...

    Examples
    --------
    >>> variable_names(("for", "<*>", "port", "<*>", "uid=<*>", "<*>"), ("ann", "22", "0", "10.0.0.7"))
    ('v1', 'port', 'uid', 'ip')
    >>> variable_names(('exe="<*>"',), ("/usr/bin/vi",))
    ('exe',)
    """
    names: list[str] = []
    places = [place for place, token in enumerate(tokens) if WILDCARD in token]
    for number, (place, value) in enumerate(zip(places, values, strict=True), start=1):
        name = _named(tokens, place, value)
        if name is None:
            name = f"v{number}"
        names.append(_different(name, names))
    return tuple(names)


def _named(tokens: Sequence[str], place: int, value: str) -> str | None:
    key = _KEY.search(tokens[place])
    if key is not None:
        return key[1].replace("-", "_").replace(".", "_").lower()
    for name, form in _SHAPES:
        if form.fullmatch(value.strip(_ENCLOSING + ":")):
            return name
    before = tokens[place - 1].strip("=:([\"',").lower() if place else ""
    if before in _NAMING:
        return before
    return None


def _different(name: str, names: Sequence[str]) -> str:
    if name not in names:
        return name
    number = 2
    while f"{name}_{number}" in names:
        number += 1
    return f"{name}_{number}"
