"""A template of messages, as readers get it; how templates are found is in io/templates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

WILDCARD = "<*>"
OTHER = "Other"
"""The type of messages that none of the templates fits."""
OTHERS = (
    "messages that fit none of the templates, which are those of the most frequent messages looked at: {:,}; "
    "they are of the type Other"
)

TEMPLATE = "template"
"""The attribute that names the template of a message whose event has another type."""
UNTEMPLATED = (
    "messages that fit none of the templates, which are those of the most frequent messages looked at: {:,}; "
    "their template is null"
)


@dataclass(frozen=True)
class MessageTemplate:
    """What messages of one kind have in common.

    Attributes
    ----------
    event_type
        Its name: the type of events, or the value of their attribute `template`.
    tokens
        The words of the messages; what varies is WILDCARD, as a word or as a part of one.
    names
        The attributes that the words with a wildcard become, in their order.
    example
        A message of the kind.
    """

    event_type: str
    tokens: tuple[str, ...]
    names: tuple[str, ...] = ()
    example: str = ""

    @property
    def text(self) -> str:
        """The words with blanks between them."""
        return " ".join(self.tokens)


def templates_text(templates: Sequence[MessageTemplate]) -> bytes:
    """Templates as the metadata of a dataset keep them."""
    entries = [[each.event_type, list(each.tokens), list(each.names), each.example] for each in templates]
    return json.dumps(entries, ensure_ascii=False).encode()


def templates_in(text: bytes | str) -> tuple[MessageTemplate, ...]:
    """What `templates_text` wrote."""
    return tuple(
        MessageTemplate(name, tuple(tokens), tuple(names), example)
        for name, tokens, names, example in json.loads(text)
    )
