"""Types and attributes of the messages of a block, by known templates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from cepctl.io.contract.message_template import OTHER, WILDCARD, MessageTemplate
from cepctl.io.templates.masking import keys_of, words_of
from cepctl.io.templates.matching import NONE, TemplateIndex
from cepctl.numeric.arrays import Flags, Numbers

_MOST_REMEMBERED = 200_000
_BLANKS = np.zeros(256, np.bool_)
_BLANKS[[9, 10, 11, 12, 13, 32]] = True


@dataclass(frozen=True)
class _Place:
    """Where the variables of messages with one key are: the template, and of each variable its words."""

    template: int
    variables: tuple[tuple[int, int], ...] = ()


@dataclass
class TemplateTable:
    """Templates, and where the variables of the texts that were seen so far stand."""

    templates: Sequence[MessageTemplate]
    _index: TemplateIndex = field(init=False)
    _known: dict[str, _Place] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._index = TemplateIndex(self.templates)

    def typed(self, messages: pa.Array) -> tuple[pa.Array, dict[str, pa.Array], Numbers]:
        """Types of messages of one line each, their attributes as text, and the places of their templates."""
        keys = keys_of(messages).dictionary_encode()
        places = [self._place(key) for key in keys.dictionary.to_pylist()]
        codes = keys.indices.to_numpy()
        of_key = np.array([place.template for place in places] or [NONE], np.int64)
        template = of_key[codes] if len(codes) else np.zeros(0, np.int64)
        names = pa.array([each.event_type for each in self.templates] + [OTHER], pa.string())
        types = names.take(pa.array(np.where(template == NONE, len(names) - 1, template)))
        return types, self._attributes(messages, codes, template, places), template

    def _place(self, key: str) -> _Place:
        known = self._known.get(key)
        if known is not None:
            return known
        words, spans = words_of(key)
        number = self._index.place_of(words)
        if number == NONE:
            place = _Place(NONE)
        else:
            ends = np.cumsum(spans)
            tokens = self.templates[number].tokens
            variables = tuple(
                (int(ends[at] - spans[at]), int(ends[at] - 1))
                for at, token in enumerate(tokens)
                if WILDCARD in token
            )
            place = _Place(number, variables)
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        self._known[key] = place
        return place

    def _attributes(
        self, messages: pa.Array, codes: Numbers, template: Numbers, places: Sequence[_Place]
    ) -> dict[str, pa.Array]:
        text, offsets = text_of(messages)
        begin, end, first = _words(text, offsets)
        widest = max((len(place.variables) for place in places), default=0)
        if not widest or not len(begin):
            return {}
        froms = np.zeros((len(places), widest), np.int64)
        tos = np.zeros((len(places), widest), np.int64)
        for number, place in enumerate(places):
            for column, (start, stop) in enumerate(place.variables):
                froms[number, column], tos[number, column] = start, stop
        pieces: dict[str, list[tuple[Numbers, Numbers, Numbers]]] = defaultdict(list)
        order = np.argsort(template, kind="stable")
        bounds = np.flatnonzero(np.diff(template[order])) + 1
        for rows in np.split(order, bounds):
            number = int(template[rows[0]])
            if number == NONE:
                continue
            known = self.templates[number]
            varying = [token for token in known.tokens if WILDCARD in token]
            for column, (name, token) in enumerate(zip(known.names, varying, strict=True)):
                start = begin[first[rows] + froms[codes[rows], column]]
                stop = end[first[rows] + tos[codes[rows], column]]
                pieces[name].append((rows, *_trimmed(text, start, stop, token)))
        return {name: parts_as_column(text, len(messages), found) for name, found in pieces.items()}


def text_of(messages: pa.Array) -> tuple[bytes, Numbers]:
    """The bytes of messages one behind the other, and where each begins and the last ends."""
    if not len(messages):
        return b"", np.zeros(1, np.int64)
    offsets = np.frombuffer(messages.buffers()[1], np.int32)[
        messages.offset : messages.offset + len(messages) + 1
    ]
    data = messages.buffers()[2]
    whole = b"" if data is None else bytes(memoryview(data)[offsets[0] : offsets[-1]])
    return whole, (offsets - offsets[0]).astype(np.int64)


def _words(text: bytes, offsets: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Where words begin and end, and of each message the number of its first word."""
    inside = ~_BLANKS[np.frombuffer(text, np.uint8)]
    if not len(inside):
        none = np.zeros(0, np.int64)
        return none, none, np.zeros(len(offsets) - 1, np.int64)
    limits = offsets[(offsets > 0) & (offsets < len(inside))]
    before = np.concatenate([[False], inside[:-1]])
    before[limits] = False
    begins = inside & ~before
    after = np.concatenate([inside[1:], [False]])
    after[limits - 1] = False
    begin = np.flatnonzero(begins)
    return begin, np.flatnonzero(inside & ~after) + 1, np.searchsorted(begin, offsets[:-1])


def _trimmed(text: bytes, start: Numbers, stop: Numbers, token: str) -> tuple[Numbers, Numbers]:
    """The part of words that a wildcard stands for; of a whole word without punctuation around it."""
    if token != WILDCARD:
        before, _, behind = token.partition(WILDCARD)
        if WILDCARD in behind:
            behind = ""
        start, stop = start + len(before.encode()), stop - len(behind.encode())
    letters = np.frombuffer(text, np.uint8)
    for _ in range(2):
        whole = stop > start
        start = start + (whole & _OPENING[letters[np.minimum(start, len(letters) - 1)]])
        whole = stop > start
        stop = stop - (whole & _CLOSING[letters[np.maximum(stop - 1, 0)]])
    return start, np.maximum(stop, start)


def _marks(signs: str) -> Flags:
    marks = np.zeros(256, np.bool_)
    marks[[ord(sign) for sign in signs]] = True
    return marks


_OPENING, _CLOSING = _marks("([{<\"'="), _marks(")]}>\"',;:")


def parts_as_column(text: bytes, count: int, pieces: Sequence[tuple[Numbers, Numbers, Numbers]]) -> pa.Array:
    """The parts of the text in their rows, null in all others; rows do not repeat."""
    rows, start, stop = (np.concatenate([piece[part] for piece in pieces]) for part in range(3))
    said = stop > start
    order = np.argsort(rows[said])
    rows, start, stop = rows[said][order], start[said][order], stop[said][order]
    bounds = np.column_stack([start, stop]).ravel().astype(np.int32)
    every = pa.Array.from_buffers(
        pa.string(), len(bounds) - 1, [None, pa.py_buffer(bounds), pa.py_buffer(text)]
    )
    place = np.full(count, -1, np.int64)
    place[rows] = np.arange(0, len(bounds), 2)
    return every.take(pa.array(place, mask=place < 0))
