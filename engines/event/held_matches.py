"""The matches of alternatives, all held until all are found: one signature may stand in several of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cepctl.engines.columns.bindings import MatchBatch, members_of
from cepctl.engines.concurrency import OnProgress, Part, concurrently, telling
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.errors import QueryTooLargeError
from cepctl.plan.plan import Plan
from cepctl.process.memory import size_text

_LOOKED_AT_FROM = 1_024
_ROW_BYTES, _EVENT_BYTES = 200, 80
"""What a match takes, and each of its events: numbers, and ids as text."""


@dataclass
class HeldMatches:
    """What was found of alternatives, one after the other.

    `owned` is as `PreparedAlternative.parts` has it.  `looked_at` sees what is found so far whenever that has
    doubled, and may raise.
    """

    plan: Plan
    options: MatchOptions
    owned: tuple[int, int] | None = None
    looked_at: Callable[[HeldMatches], None] | None = None
    sources: list[PreparedAlternative] = field(default_factory=list)
    found: list[list[MatchBatch]] = field(default_factory=list)
    _count: int = 0
    _size: int = 0
    _look: int = _LOOKED_AT_FROM

    def add(self, source: PreparedAlternative) -> None:
        """Find the matches of one more alternative; raises QueryTooLargeError as `take` does."""
        self.take(source, source.parts(self.owned))

    def take(self, source: PreparedAlternative, parts: Sequence[Part[MatchBatch]]) -> None:
        """Hold the matches that parts of an alternative give.

        Raises
        ------
        QueryTooLargeError
            If they do not fit in memory, or are too many.
        """
        self.sources.append(source)
        self.found.append([])
        for batch in concurrently(list(parts), self.options.threads):
            self.found[-1].append(batch)
            self._count += len(batch)
            self.options.check_count(self._count)
            if self.looked_at is not None and self._count > self._look:
                self.looked_at(self)
                self._look = 2 * self._count
            self._size += len(batch) * _ROW_BYTES + sum(map(members_of, batch.bound)) * _EVENT_BYTES
            self._require_memory()

    def _require_memory(self) -> None:
        most = self.options.memory.block(1)
        if self._size > most:
            raise QueryTooLargeError(
                f"the matches of {_what_holds_all(self.plan, self.options)} are held until all are found: "
                f"{self._count:,} by now, which take {size_text(self._size)} of memory where "
                f"{size_text(most)} are allowed; narrow it (WITHIN, [attr], tighter predicates, CONFIDENCE), "
                "or raise --max-memory"
            )


def matches_of_each(
    prepared: Sequence[PreparedAlternative],
    owned: tuple[int, int] | None,
    options: MatchOptions,
    on_progress: OnProgress | None = None,
) -> list[list[MatchBatch]]:
    """The matches of each alternative; `on_progress` hears how many parts of the work are done.

    Raises
    ------
    QueryTooLargeError
        If they do not fit in memory.
    """
    held = HeldMatches(prepared[0].plan, options, owned)
    parts_of = [each.parts(owned) for each in prepared]
    every = iter(telling([part for parts in parts_of for part in parts], on_progress))
    for source, parts in zip(prepared, parts_of, strict=True):
        held.take(source, [next(every) for _ in parts])
    return held.found


def _what_holds_all(plan: Plan, options: MatchOptions) -> str:
    """Why all rows are held before the first, for a message."""
    if options.kleene == "summary":
        return "a summary"
    if plan.group_by is not None:
        return "GROUP BY"
    return "components that may be absent" if len(plan.alternatives) == 1 else "an OR"
