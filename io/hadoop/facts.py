"""What the records of a history say of each other: hosts of attempts by task, and when things began."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cepctl.io.contract.reader import ReadOptions
from cepctl.io.hadoop.records import Record, task_id, text
from cepctl.io.hadoop.spans import Spans


@dataclass(slots=True)
class Attempts:
    """The attempts of one task: where each ran, and which of them succeeded last."""

    hosts: dict[str, str | None] = field(default_factory=dict)
    succeeded: list[str] = field(default_factory=list)

    def see(self, record: Record, attempt: str) -> None:
        fields = record.fields
        raw = text(fields.get("hostname")) or text(fields.get("trackerName"))
        self.hosts[attempt] = raw or self.hosts.get(attempt)
        if self.succeeded and attempt in self.succeeded:
            self.succeeded.remove(attempt)
        if record.kind.endswith("_FINISHED"):
            self.succeeded.append(attempt)

    def host(self, successful: str | None) -> str | None:
        """Host of the successful attempt, else of the only one, else None."""
        if successful in self.hosts:
            return self.hosts[successful]
        if self.succeeded:
            return self.hosts[self.succeeded[-1]]
        return next(iter(self.hosts.values())) if len(self.hosts) == 1 else None


@dataclass
class HistoryFacts:
    """The facts of one history, or of the part of one that says all about its tasks.

    `untold` are the times that records of this kind of history do not have; any other that is missing is
    damage.  `spans` are there where interval events are asked for.
    """

    tasks: dict[str, Attempts] = field(default_factory=dict)
    spans: Spans | None = None
    untold: frozenset[str] = frozenset()

    def attempts_of(self, task: str | None) -> Attempts:
        """The attempts of a task, of which more may become known."""
        known = self.tasks.get(task or "")
        if known is None:
            known = self.tasks[task or ""] = Attempts()
        return known

    def see(self, record: Record) -> None:
        """Note where an attempt ran."""
        if "_ATTEMPT_" in record.kind:
            attempt = text(record.fields.get("attemptId"))
            if attempt:
                self.attempts_of(task_id(record.fields)).see(record, attempt)


def history_facts(
    records: Iterable[Record], options: ReadOptions, *, untold: frozenset[str] = frozenset()
) -> HistoryFacts:
    """Look through all records of a history before any becomes an event."""
    facts = HistoryFacts(spans=Spans() if options.intervals else None, untold=untold)
    for record in records:
        facts.see(record)
        if facts.spans is not None:
            facts.spans.see(record)
    return facts
