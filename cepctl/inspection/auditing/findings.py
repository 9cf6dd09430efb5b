"""What an audit says: findings of each source, worst first, and one verdict on the order of its events.

verdict                            holds if
certain order                      no two neighbours in time could have happened in the other order
order by file                      some could, and the order of records settles it: few of them step back
weighted                           some could, and the file does not settle it: every order has a probability
cannot be ordered across hosts     the clock of a host is provably wrong
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

CERTAIN, BY_FILE, WEIGHTED = "certain order", "order by file", "weighted"
ACROSS_HOSTS = "cannot be ordered across hosts"
VERDICTS = (ACROSS_HOSTS, WEIGHTED, BY_FILE, CERTAIN)
"""The worst first."""
KINDS = {
    "clocks": "clocks of hosts that are provably wrong, or of which nothing is known",
    "zone": "times without a zone, which are taken for UTC or for --tz",
    "arrival": "records that arrive before they can have happened",
    "no-time": "records without a usable time, which became no events",
    "steps": "records that step back in time behind the one before them",
    "open-order": "neighbours in time that could have happened in the other order",
    "folds": "times in an hour that happened twice",
    "second-time": "other fields that are times, and differ from the time that was taken",
    "fractions": "times without a fraction among others that have one",
    "digits": "digits of times that are lost, or that their numbers do not hold",
    "unit": "times that are written to the second, the minute or the day",
    "ties": "events that share their time with others",
    "gaps": "long times without any record",
}
"""The kinds of findings, with what they are; in this order where they are as bad."""
WRONG, OPEN, TOLD = 3, 2, 1
"""How bad a finding is: times may be wrong, an order is open, or it is good to know."""


@dataclass(frozen=True)
class Finding:
    """One thing that is to be known of the times of a source.

    Attributes
    ----------
    kind
        One of KINDS.
    severity
        WRONG, OPEN or TOLD.
    said
        What was found, in a line.
    count, of
        How many times or pairs it is about, of how many.
    worst
        Where its worst case stands: the id of an event, or the number of a record; None where all are alike.
    line
        The line of a log at which that record begins; None where that is not known.
    settles
        The option, the command or the rule that settles it; None where nothing has to be settled.
    """

    kind: str
    severity: int
    said: str
    count: int
    of: int
    worst: str | None = None
    settles: str | None = None
    line: int | None = None

    @property
    def rank(self) -> tuple[int, int]:
        """The worst findings have the least."""
        return -self.severity, list(KINDS).index(self.kind)


@dataclass(frozen=True)
class SourceAudit:
    """What the times of one source are worth; `first` and `last` in ISO 8601, None without events."""

    source: str
    events: int
    types: int
    first: str | None
    last: str | None
    verdict: str
    findings: tuple[Finding, ...]

    @property
    def rank(self) -> tuple[int, int, str]:
        """The worst sources have the least."""
        worst = min((each.rank[0] for each in self.findings), default=0)
        return worst, VERDICTS.index(self.verdict), self.source


@dataclass(frozen=True)
class Audit:
    """What the times of all sources are worth, the worst first."""

    sources: tuple[SourceAudit, ...]

    def kinds(self) -> tuple[str, ...]:
        """The kinds of findings that there are."""
        found = {each.kind for source in self.sources for each in source.findings}
        return tuple(kind for kind in KINDS if kind in found)

    def failing(self, kinds: Iterable[str]) -> list[tuple[SourceAudit, Finding]]:
        """The findings of these kinds."""
        wanted = set(kinds)
        return [(source, each) for source in self.sources for each in source.findings if each.kind in wanted]

    def to_json(self) -> dict[str, Any]:
        """All of it as values that JSON has."""
        return {"sources": [asdict(source) for source in self.sources]}


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings, the worst first."""
    return tuple(sorted(findings, key=lambda each: each.rank))


def worst_first(sources: Sequence[SourceAudit]) -> Audit:
    """An audit of these sources."""
    return Audit(tuple(sorted(sources, key=lambda each: each.rank)))
