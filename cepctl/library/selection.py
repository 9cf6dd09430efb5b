"""By which engine a query is run, and which of its matches are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from cepctl.errors import UsageError
from cepctl.library.instants import instant, nanoseconds_now
from cepctl.library.options import require_choice
from cepctl.matching.run import ticks_between
from cepctl.memory import MemoryBudget, budget_of, default_budget
from cepctl.plan.evaluation_order import ORDERS, OrderName
from cepctl.plan.support import ENGINES, Engine

if TYPE_CHECKING:
    from cepctl.engines.event.options import MatchOptions
    from cepctl.plan.plan import Plan
    from cepctl.plan.summary import KleeneRows


@dataclass(frozen=True)
class Matching:
    """How a query is run and which of its matches are kept; None where nothing was asked for.

    `no_given`: what the events are said to satisfy is left out.
    """

    engine: Engine
    order: OrderName
    min_confidence: float | None
    top_k: int | None
    max_matches: int
    approximate: float | None
    since: int | None  # nanoseconds since 1970 UTC, as `until`
    until: int | None
    memory: MemoryBudget
    no_given: bool = False

    def options(
        self, plan: Plan, type_counts: Mapping[str, int] | None, kleene: KleeneRows, *, judged: bool
    ) -> MatchOptions:
        """What the engines are told; `judged`: rows are to be held to raw times."""
        from cepctl.engines.event.options import MatchOptions

        return MatchOptions(
            *(self.order, type_counts, self.max_matches),
            approximate=self.approximate,
            kleene=kleene,
            top=self.top_k,
            raw_times=judged,
            starting=ticks_between(plan, self.since, self.until),
            memory=self.memory,
        )


def selected(
    *,
    engine: Engine,
    order: OrderName,
    min_confidence: float | None,
    top_k: int | None,
    max_matches: int,
    approximate: float | None,
    since: str | datetime | None,
    until: str | datetime | None,
    max_memory: str | None,
    no_given: bool,
) -> Matching:
    """The choices of a program.

    Raises
    ------
    UsageError
        If one cannot have its value.
    """
    require_choice("engine", engine, ENGINES)
    require_choice("order", order, ORDERS)
    require_between("min_confidence", min_confidence, 0.0, 1.0)
    require_between("approximate", approximate, 1e-4, 0.5)
    require_between("top_k", top_k, 1, None)
    require_between("max_matches", max_matches, 1, None)
    now = nanoseconds_now()
    return Matching(
        engine=engine,
        order=order,
        min_confidence=min_confidence,
        top_k=top_k,
        max_matches=max_matches,
        approximate=approximate,
        since=_nanoseconds("since", since, now),
        until=_nanoseconds("until", until, now),
        memory=default_budget() if max_memory is None else budget_of(max_memory),
        no_given=no_given,
    )


def require_between(option: str, value: float | None, least: float, most: float | None) -> None:
    """Raise UsageError where a number is not None and not between two others, both included (None: any)."""
    if value is None:
        return
    if not value >= least or (most is not None and value > most):
        bounds = f"at least {least}" if most is None else f"between {least} and {most}"
        raise UsageError(f"{option} cannot be {value!r}; it is {bounds}")


def _nanoseconds(option: str, given: str | datetime | None, now: int) -> int | None:
    """An instant in nanoseconds since 1970 UTC; one without a zone is in UTC."""
    if given is None:
        return None
    try:
        return instant(given.isoformat() if isinstance(given, datetime) else given, now)
    except UsageError as problem:
        raise UsageError(f"{option}: {problem}") from None
