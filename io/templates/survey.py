"""What the messages of a log are, counted by their keys: all that mining templates needs to know of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.message_template import WILDCARD, MessageTemplate
from cepctl.io.templates.masking import keys_of, words_of
from cepctl.io.templates.matching import NONE, TemplateIndex
from cepctl.io.templates.mining import Words, mined
from cepctl.io.templates.naming import type_names, variable_names

MOST_KEYS = 50_000
MOST_TEMPLATES = 2_000
_LONGEST_EXAMPLE = 400


@dataclass
class Survey:
    """Keys of messages, each with how many there are and the first of them; MOST_KEYS at most.

    Attributes
    ----------
    counts, examples
        By key.
    beyond
        How many messages had a key that there was no room for.
    """

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    beyond: int = 0

    def add(self, messages: pa.Array) -> None:
        """Take in messages of one line each."""
        keys = keys_of(messages).dictionary_encode()
        codes = keys.indices
        counts = pc.value_counts(codes)
        first: dict[int, int] = {}
        found = zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True)
        texts = keys.dictionary.to_pylist()
        fresh = [code for code in range(len(texts)) if texts[code] not in self.counts]
        room = MOST_KEYS - len(self.counts)
        if fresh:
            places = pc.index_in(pa.array(fresh[:room], codes.type), codes).to_pylist()
            first = dict(zip(fresh[:room], places, strict=True))
        for code, count in found:
            key = texts[code]
            if code in first:
                self.counts[key] = count
                self.examples[key] = messages[first[code]].as_py()[:_LONGEST_EXAMPLE]
            elif key in self.counts:
                self.counts[key] += count
            else:
                self.beyond += count

    def join(self, other: Survey) -> None:
        """Take in what was counted elsewhere, behind this."""
        self.beyond += other.beyond
        for key, count in other.counts.items():
            if key in self.counts:
                self.counts[key] += count
            elif len(self.counts) < MOST_KEYS:
                self.counts[key], self.examples[key] = count, other.examples[key]
            else:
                self.beyond += count


@dataclass(frozen=True)
class Mined:
    """Templates, and how many messages the `known` ones, new ones, and none of them fit."""

    templates: tuple[MessageTemplate, ...]
    known: int = 0
    new: int = 0
    none: int = 0


def templates_of(survey: Survey, known: Sequence[MessageTemplate] = ()) -> Mined:
    """The templates of the messages: those that are known, then new ones of what these do not fit.

    The most frequent come first, MOST_TEMPLATES at most: all other messages are of one type.
    """
    index = TemplateIndex(known)
    words: dict[str, tuple[Words, tuple[int, ...]]] = {}
    fitting = 0
    for key, count in survey.counts.items():
        found = words_of(key)
        if index.place_of(found[0]) == NONE:
            words[key] = found
        else:
            fitting += count
    template_of = mined(sorted({found for found, _ in words.values()}))
    counts: dict[Words, int] = {}
    example: dict[Words, str] = {}
    for key, (own, _) in words.items():
        template = template_of[own]
        counts[template] = counts.get(template, 0) + survey.counts[key]
        example.setdefault(template, key)
    order = sorted(counts, key=lambda template: (-counts[template], template))[:MOST_TEMPLATES]
    names = type_names(order, [each.event_type for each in known])
    new = tuple(
        _template(template, name, survey.examples[example[template]], words[example[template]][1])
        for template, name in zip(order, names, strict=True)
    )
    taken = sum(counts[template] for template in order)
    none = sum(counts.values()) - taken + survey.beyond
    return Mined((*known, *new), fitting, taken, none)


def _template(tokens: Words, name: str, example: str, spans: Sequence[int]) -> MessageTemplate:
    said = example.split()
    values, place = [], 0
    for token, span in zip(tokens, spans, strict=True):
        if WILDCARD in token:
            values.append(_value(" ".join(said[place : place + span]), token))
        place += span
    return MessageTemplate(name, tokens, variable_names(tokens, values), example)


def _value(text: str, token: str) -> str:
    before, _, behind = token.partition(WILDCARD)
    return text.removeprefix(before).removesuffix(behind) if token != WILDCARD else text


def survey_of(messages: Iterable[pa.Array]) -> Survey:
    """What these batches of messages are."""
    found = Survey()
    for batch in messages:
        found.add(batch)
    return found
