"""By which engine a query is run, and which of its matches are kept.

Instants as people name them to a command: `2026-03-03T09:00:00Z`, `-24h`, `yesterday`.

What is relative counts from now, as with `journalctl --since`; a run that starts late therefore
sees less, and a scheduled one that must see everything names absolute times.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from cepctl.errors import CepctlError, UsageError
from cepctl.library.laws import LawChoice
from cepctl.library.options import require_choice
from cepctl.matching.run import ticks_between
from cepctl.plan.choices import ENGINES, Engine
from cepctl.plan.evaluation_order import ORDERS, OrderName
from cepctl.process.memory import MemoryBudget, default_budget

if TYPE_CHECKING:
    from cepctl.engines.event.options import MatchOptions
    from cepctl.engines.rows.kept import KeptRows
    from cepctl.language.ast import Query
    from cepctl.plan.choices import KleeneRows
    from cepctl.plan.event_schema import EventSchema
    from cepctl.plan.plan import Plan


@dataclass(frozen=True)
class Matching:
    """How a query is run and which of its matches are kept; None where nothing was asked for.

    `no_given`: what the events are said to satisfy is left out.
    `exists`: only whether there is a match, and the first one.  `under`: by which laws of order worlds are
    weighed.  `closed`: rows that the end of the events leaves open are left out.

    Raises
    ------
    UsageError
        If a choice cannot have its value.
    """

    engine: Engine = "event"
    order: OrderName = "auto"
    min_confidence: float | None = None
    top_k: int | None = None
    max_matches: int = 10_000_000
    approximate: float | None = None
    since: int | None = None  # nanoseconds since 1970 UTC, as `until`
    until: int | None = None
    memory: MemoryBudget = field(default_factory=default_budget)
    no_given: bool = False
    exists: bool = False
    under: LawChoice = field(default_factory=LawChoice)
    closed: bool = False

    def __post_init__(self) -> None:
        require_choice("engine", self.engine, ENGINES)
        require_choice("order", self.order, ORDERS)
        require_between("min_confidence", self.min_confidence, 0.0, 1.0)
        require_between("approximate", self.approximate, 1e-4, 0.5)
        require_between("top_k", self.top_k, 1, None)
        require_between("max_matches", self.max_matches, 1, None)

    def plan(self, query: Query, schema: EventSchema) -> Plan:
        """The plan of a query for events of a schema.

        Raises
        ------
        QuerySemanticError
            If the query does not fit the events.
        UnsupportedQueryError
            If what is asked cannot be had under a law of order.
        """
        from cepctl.plan.analyze import analyze
        from cepctl.plan.laws import refuse_laws

        known = self.under.applied(schema)
        plan = analyze(query, replace(known, given=()) if self.no_given else known)
        if self.approximate is not None:
            refuse_laws(plan, "--approximate")
        least = [each for each in (self.min_confidence, plan.minimum_confidence) if each is not None]
        return replace(plan, minimum_confidence=max(least, default=None))

    def binding(self) -> dict[str, str]:
        """Choices on which the rows of a state depend, by the words in which the state keeps them.

        The others change none, or cannot apply with a state; without `no_given`, what is given is refused.
        """
        return {"minimum confidence": str(self.min_confidence)}

    def kept(self, plan: Plan) -> KeptRows:
        """Which rows are not left out: what is asked of each row by itself."""
        from cepctl.engines.rows.kept import KeptRows

        return KeptRows(*ticks_between(plan, self.since, self.until))

    def options(
        self,
        plan: Plan,
        type_counts: Mapping[str, int] | None,
        kleene: KleeneRows,
        *,
        judged: bool,
        lawless: bool = False,
    ) -> MatchOptions:
        """What the engines are told; `judged`: rows are to be held to raw times; `lawless`: a column more."""
        from cepctl.engines.event.options import MatchOptions

        return MatchOptions(
            *(self.order, type_counts, self.max_matches),
            approximate=self.approximate,
            kleene=kleene,
            top=self.top_k,
            raw_times=judged and not self.exists,
            exists=self.exists,
            kept=self.kept(plan),
            memory=self.memory,
            lawless=lawless,
            beyond=self.under.beyond,
            law_limit=self.under.law_limit,
            closed=self.closed,
        )


def require_between(option: str, value: float | None, least: float, most: float | None) -> None:
    """Raise UsageError where a number is not None and not between two others, both included (None: any)."""
    if value is None:
        return
    if not value >= least or (most is not None and value > most):
        bounds = f"at least {least}" if most is None else f"between {least} and {most}"
        raise UsageError(f"{option} cannot be {value!r}; it is {bounds}")


def nanoseconds(option: str, given: str | datetime | None, now: int) -> int | None:
    """The instant of an option in nanoseconds since 1970 UTC; one without a zone is in UTC.

    Raises
    ------
    UsageError
        If it names none.
    """
    if given is None:
        return None
    try:
        return instant(given.isoformat() if isinstance(given, datetime) else given, now)
    except UsageError as problem:
        raise UsageError(f"{option}: {problem}") from None


_DAY = 86_400_000_000_000
_PER_MICROSECOND = 1_000
_DAYS_BACK = {"today": 0, "yesterday": 1}


def instant(text: str, now: int) -> int:
    """The instant that a text names, in nanoseconds since 1970 UTC.

    Parameters
    ----------
    text
        An ISO 8601 time (UTC where it names no zone), `now`, `today` or `yesterday` (its midnight,
        UTC), or a duration with a minus sign: so long before now.
    now
        Nanoseconds since 1970 UTC.

    Raises
    ------
    UsageError
        If the text is nothing of these.

    Examples
    --------
    >>> instant("-2h", now=10_000_000_000_000), instant("now", now=7)
    (2800000000000, 7)
    >>> instant("yesterday", now=_DAY * 5 + 17) == _DAY * 4
    True
    """
    from cepctl.io.contract.times import parse_time
    from cepctl.schema import parse_duration

    word = text.strip().lower()
    if word == "now":
        return now
    if word in _DAYS_BACK:
        return (now // _DAY - _DAYS_BACK[word]) * _DAY
    written = parse_time(text, None)
    if written is not None:
        return written.micros * _PER_MICROSECOND + written.nanos
    try:
        length = parse_duration(word)
    except CepctlError:
        length = None
    if length is None or length > 0:
        raise UsageError(
            f"'{text}' is not an ISO 8601 time, such as 2026-03-03T09:00:00Z, a duration before now, such as "
            "-24h, or one of now, today, yesterday"
        )
    return now + round(length * _PER_MICROSECOND)


def nanoseconds_now() -> int:
    """The time on the clock of this machine, in nanoseconds since 1970 UTC."""
    return time.time_ns()
