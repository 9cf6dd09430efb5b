"""Which of known templates fits a message: the same answer whatever was read before.

Of several that fit, the one with the fewest wildcards does, then the first.  A word of a template fits the
same word; one with a wildcard fits all that begin and end as it does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from cepctl.io.contract.message_template import WILDCARD, MessageTemplate

NONE = -1


@dataclass
class TemplateIndex:
    """Templates by the number of their words and the first of them."""

    templates: Sequence[MessageTemplate]
    _exact: dict[tuple[str, ...], int] = field(default_factory=dict)
    _by_first: dict[tuple[int, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    _open: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        order = sorted(range(len(self.templates)), key=lambda place: (self._wildcards(place), place))
        for place in order:
            tokens = self.templates[place].tokens
            self._exact.setdefault(tokens, place)
            if tokens and WILDCARD not in tokens[0]:
                self._by_first[len(tokens), tokens[0]].append(place)
            else:
                self._open[len(tokens)].append(place)

    def _wildcards(self, place: int) -> int:
        return sum(WILDCARD in token for token in self.templates[place].tokens)

    def place_of(self, words: tuple[str, ...]) -> int:
        """The place of the template that fits these words, NONE where none does."""
        known = self._exact.get(words)
        if known is not None:
            return known
        first = words[0] if words else ""
        fitting = [
            place
            for place in (*self._by_first.get((len(words), first), ()), *self._open.get(len(words), ()))
            if all(map(_fits, self.templates[place].tokens, words))
        ]
        return min(fitting, key=lambda place: (self._wildcards(place), place), default=NONE)


def _fits(token: str, word: str) -> bool:
    if token in (word, WILDCARD):
        return True
    before, found, behind = token.partition(WILDCARD)
    return (
        bool(found)
        and word.startswith(before)
        and word.endswith(behind)
        and len(word) >= len(before + behind)
    )
