"""Event selection strategies: one value for each, in one list.

A strategy says which events beside its own decide a match, whether by key, and what must be absent; whoever
acts on it asks that, and not which strategy it is.  Source: SASE+; ZDI14, section 2.

The worlds engine, which judges the others, has a reading of its own for each word.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Absent(Enum):
    """What must be absent between consecutive components of a match."""

    NOTHING = "nothing"
    NEARER = "an event that fits the later component and is nearer to the earlier one"
    OTHERS = "any other event"


@dataclass(frozen=True)
class Strategy:
    """What a strategy asks of a match.

    `by_key` says that an event of another key counts for nothing; `whole_groups` that a Kleene group takes
    every event that it can between its neighbours, and one at the end of the pattern, where what is nearer
    must be absent, until the window ends.  `title`, `meaning`, `arrow` and `rival` are its words: in the
    table of support, in `explain`, between the components of a drawing, and for an event of {} that breaks
    a match.
    """

    word: str
    title: str
    meaning: str
    arrow: str
    absent: Absent = Absent.NOTHING
    by_key: bool = False
    whole_groups: bool = False
    rival: str = ""

    @property
    def asks_others(self) -> bool:
        """Whether events that a match does not bind can decide it."""
        return self.absent is not Absent.NOTHING

    @property
    def asks_all(self) -> bool:
        """Whether they do so whatever they fit: each event of the input matters, by its start alone."""
        return self.absent is Absent.OTHERS

    @property
    def crosses_keys(self) -> bool:
        """Whether events of other keys can decide a match."""
        return self.asks_all and not self.by_key


SKIP_TILL_ANY_MATCH = Strategy(
    "skip_till_any_match",
    title="any match",
    meaning="every combination that satisfies the query",
    arrow=" ──▶ ",
)
SKIP_TILL_NEXT_MATCH = Strategy(
    "skip_till_next_match",
    title="next match",
    meaning="each component takes its first fitting event after the one before",
    arrow=" ─next▶ ",
    absent=Absent.NEARER,
    whole_groups=True,
    rival="which takes the first {}",
)
STRICT_CONTIGUITY = Strategy(
    "strict_contiguity",
    title="strict contiguity",
    meaning="no other event of the input between consecutive events",
    arrow=" ━━▶ ",
    absent=Absent.OTHERS,
    whole_groups=True,
)
PARTITION_CONTIGUITY = Strategy(
    "partition_contiguity",
    title="partition contiguity",
    meaning="no other event with the same key between consecutive events",
    arrow=" ━key▶ ",
    absent=Absent.OTHERS,
    by_key=True,
    whole_groups=True,
)

STRATEGIES: dict[str, Strategy] = {
    each.word: each
    for each in (SKIP_TILL_ANY_MATCH, SKIP_TILL_NEXT_MATCH, STRICT_CONTIGUITY, PARTITION_CONTIGUITY)
}
"""Every strategy, by its word."""
