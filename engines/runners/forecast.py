"""What `explain` tells of a run beyond its plan: how long it will take, which events it leaves out or ties.

A trial judges what a run will take: some of the events that can begin a match, and what comes of them.  The
model is that of the progress of a run (progress.py): parts begin with different events, and those that are
left take as long as those that are done.  Some row groups are chosen evenly; of each, stretches of its
beginning events are matched as slices of their own.  Reading and preparing are measured apart, since they
grow with the events and not with those that begin.  What a plan will take of memory is estimated from counts
of types alone.

Of the events it shows pairs that are left out unmeasured, what is given that ties some, and open orders.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, product
from typing import Any

import numpy as np
import pyarrow as pa

from cepctl.datasets.row_groups import EventSource, row_groups
from cepctl.engines.columns.events import events_of
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.concurrency import usable_cores
from cepctl.engines.confidence.orders.key_orders import key_orders
from cepctl.engines.confidence.points.measure import COUPLED_PAIR_BYTES, PAIR_BYTES
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.match import match_batches
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternatives
from cepctl.engines.kernels.beside import compiling_seconds
from cepctl.engines.runners.slices import EVENT_COPIES, SliceTask, TimeSlice
from cepctl.numeric.arrays import Numbers
from cepctl.plan.evaluation_order import estimated_count
from cepctl.plan.plan import Alternative, Plan
from cepctl.process.memory import MemoryBudget, size_text
from cepctl.runners.ahead import seconds_left

MOST_READ = 2_000_000
"""Without a window a trial reads all events: of more than these there is none."""
_STRETCHES, _BEGINNING = 8, 32
_ENOUGH_SECONDS = 2.0
_NOBODY = (-1, -2)
MOST_STATED = 20
"""Pairs of shapes that are told."""


@dataclass(frozen=True)
class Forecast:
    """About how many matches there are, and seconds it takes one process on all cores to find them.

    `tried` of about `beginning` events that can begin a match were tried.
    """

    matches: int
    seconds: float
    tried: int
    beginning: int

    def to_json(self) -> dict[str, int | float]:
        """The forecast for machines, not rounded to what can be relied on."""
        return {
            "matches": self.matches,
            "seconds": round(self.seconds, 3),
            "tried": self.tried,
            "beginning": self.beginning,
        }


@dataclass
class _Trial:
    """What the stretches have shown so far, in seconds, events and matches."""

    beginning: float = 0.0
    tried: int = 0
    matches: float = 0.0
    matching: float = 0.0
    preparing: float = 0.0
    prepared: int = 0


def forecast(
    plan: Plan,
    sources: Sequence[EventSource],
    options: MatchOptions,
    clock: Callable[[], float] = time.monotonic,
) -> Forecast | None:
    """Try some of the events of a plan; None where too many would have to be read.

    Raises
    ------
    QueryTooLargeError
        If the trial alone finds too many matches, or one that is too large to be measured.
    """
    groups = row_groups(sources)
    events = int(groups.rows.sum())
    if plan.window is None and events > MOST_READ:
        return None
    options, clock = replace(options, threads=1, raw_times=False), _without_compiling(clock)
    task = SliceTask(replace(plan, group_by=None), options, tuple(sources), groups)
    evenly = np.linspace(0, len(groups) - 1, _STRETCHES if events else 0)
    chosen = np.unique(evenly.round().astype(np.int64))
    trial, begun, seen = _Trial(), clock(), 0
    for number in chosen:
        seen += int(groups.rows[number])
        _try_group(task, int(number), -(-_STRETCHES // len(chosen)), trial, clock)
        if clock() - begun > _ENOUGH_SECONDS:
            break
    if not trial.tried:
        return Forecast(0, 0.0, 0, 0)
    of_all = events / seen
    beginning = trial.beginning * of_all
    matching = trial.matching + seconds_left(trial.tried, beginning, trial.matching)
    preparing = trial.preparing + seconds_left(trial.prepared, max(events, trial.prepared), trial.preparing)
    return Forecast(
        round(trial.matches * of_all), preparing + matching / usable_cores(), trial.tried, round(beginning)
    )


def _without_compiling(clock: Callable[[], float]) -> Callable[[], float]:
    """A clock that stands while kernels are compiled: later runs find them, and a run compiles them once."""
    return lambda: clock() - compiling_seconds()


def _try_group(
    task: SliceTask, number: int, stretches: int, trial: _Trial, clock: Callable[[], float]
) -> None:
    """Match some stretches of the events of a row group that can begin a match."""
    lower = _beginning(task, number)
    trial.beginning += len(lower)
    tried = matches = 0
    for own in _stretches(lower, stretches):
        if not trial.tried:
            # The first match of a process also loads what is compiled.
            found, _ = task.events(own)
            list(match_batches(task.plan, found, task.options, own.owned))
        at = clock()
        events, _ = task.events(own)
        # Row groups of other inputs may hold some that begin then, too.
        begins = task.relevance.begins(events).to_numpy(zero_copy_only=False)
        tried += own.of(events.filter(begins)).num_rows
        list(match_batches(task.plan, events, task.options, _NOBODY))
        trial.preparing += clock() - at
        trial.prepared += max(events.num_rows, 1)
        at = clock()
        matches += sum(each.num_rows for each in match_batches(task.plan, events, task.options, own.owned))
        trial.matching += clock() - at
    if tried:
        trial.tried += tried
        trial.matches += matches * len(lower) / tried


def _beginning(task: SliceTask, number: int) -> Numbers:
    """The `lower` of the events of a row group that can begin a match, in order."""
    some = np.zeros(len(task.groups), dtype=bool)
    some[number] = True
    found = [np.empty(0, dtype=np.int64)]
    for source, part, numbers in task.groups.where(some).files():
        for table in task.relevant(source, part, numbers):
            begins = task.relevance.begins(table).to_numpy(zero_copy_only=False)
            found.append(table.column("lower").to_numpy()[begins])
    return np.sort(np.concatenate(found))


def _stretches(lower: Numbers, count: int) -> Iterator[TimeSlice]:
    """So many stretches, in the middle of as many equal parts of some events; fewer of few."""
    for part in np.array_split(lower, max(min(count, len(lower) // _BEGINNING), 1)):
        if len(part):
            first = max(len(part) - _BEGINNING, 0) // 2
            last = min(first + _BEGINNING, len(part)) - 1
            yield TimeSlice(int(part[first]), int(part[last]))


_NEARLY = 10
"""Above a tenth of what there is for them, events are worth a word on it."""
_EVENT_BYTES, _ATTRIBUTE_BYTES = 80, 16
"""An event as it is read: id, type, interval and raw time, and one value more."""


@dataclass(frozen=True)
class MemoryEstimate:
    """How many events are held at most, and how many can break one match; both with their bytes."""

    budget: MemoryBudget
    events: int
    event_bytes: int
    rivals: int
    rival_bytes: int

    @classmethod
    def of(cls, plan: Plan, counts: Mapping[str, int], budget: MemoryBudget) -> MemoryEstimate:
        """Estimate from the number of events of each type, as if none failed a predicate."""
        events = sum(counts.values())
        each = EVENT_COPIES * (_EVENT_BYTES + _ATTRIBUTE_BYTES * len(plan.attributes))
        rivals = max((_rivals(plan, each, counts) for each in plan.alternatives), default=0)
        return cls(budget, events, events * each, rivals, rivals * (PAIR_BYTES + COUPLED_PAIR_BYTES))

    def text(self) -> str:
        """In words; with what is there for each, where that is nearly taken."""
        budget, said = self.budget, [f"{self.events:,} events take about {size_text(self.event_bytes)}"]
        if self.event_bytes * _NEARLY > budget.events:
            said[0] += f" of {size_text(budget.events)}"
        if self.rivals:
            said.append(
                f"a match with at most {self.rivals:,} rivals about {size_text(self.rival_bytes)} of "
                f"{size_text(2 * budget.block(usable_cores()))}"
            )
        if self.event_bytes * _NEARLY > budget.events or self.rivals:
            said.append(f"{size_text(budget.total)} at most; rows beyond {size_text(budget.rows)} go to disk")
        return "; ".join(said)

    def to_json(self) -> dict[str, int]:
        """The numbers for machines."""
        return {
            "max_bytes": self.budget.total,
            "events": self.events,
            "event_bytes": self.event_bytes,
            "rivals_of_a_match": self.rivals,
            "rival_bytes": self.rival_bytes,
            "row_bytes_in_memory": self.budget.rows,
        }


def _rivals(plan: Plan, alternative: Alternative, counts: Mapping[str, int]) -> int:
    """How many events can break a match of one reading at most, whatever their times."""
    if plan.strategy.asks_all:
        return sum(counts.values())
    every = plan.strategy.asks_others
    return sum(
        estimated_count(alternative, i, counts) or 0
        for i, component in enumerate(alternative.components)
        if component.negated or (every and i > 0)
    )


@dataclass(frozen=True)
class StatedRange:
    """Of pairs shaped as two events, a and b, how many ticks `upper_b - upper_a` may be.

    None where there is no end.  No pair of these shapes reaches the threshold where `least` exceeds `most`.
    """

    variable_a: str
    variable_b: str
    example_a: str
    example_b: str
    least: int | None
    most: int | None


def stated_ranges(plan: Plan, table: pa.Table) -> list[StatedRange]:
    """The ranges of a plan that asks for a confidence, of at most MOST_STATED pairs of shapes."""
    if plan.minimum_confidence is None or plan.minimum_confidence <= 0.0 or not table.num_rows:
        return []
    prepared = prepared_alternatives(plan, events_of(table), MatchOptions())
    found = (each for one in prepared for each in _of_alternative(one, plan.minimum_confidence))
    return list(islice(found, MOST_STATED))


def _of_alternative(prepared: PreparedAlternative, confidence: float) -> Iterator[StatedRange]:
    ids, components = prepared.events.ids, prepared.alternative.components
    names = [components[i].variable for i in prepared.search.singles]
    for each in prepared.ranges(confidence):
        pairs = product(enumerate(each.examples_a.tolist()), enumerate(each.examples_b.tolist()))
        for (i, a), (j, b) in pairs:
            least, most = int(each.least[i, j]), int(each.most[i, j])
            nobody = least > most
            yield StatedRange(
                *(names[each.column_a], names[each.column_b], ids[a], ids[b]),
                1 if nobody else None if least == FIRST else least,
                0 if nobody else None if most == LAST else most,
            )


@dataclass(frozen=True)
class TieCounts:
    """Ties that no interval implies, the components that they make, and the events of the largest."""

    ties: int
    components: int
    largest: int


def tie_counts(plan: Plan, table: pa.Table) -> TieCounts:
    """Count them in the events of a query that the event engine runs.

    Raises
    ------
    ContradictionError
        If no possible world satisfies what is given.
    """
    from cepctl.engines.confidence.given.known import known_events

    known = known_events(plan, events_of(table, plan.clocks))
    ties = known.ties or known.tied_endpoints
    return TieCounts(len(ties.left), len(ties.sizes), int(ties.sizes.max(initial=0)))


@dataclass(frozen=True)
class OpenOrders:
    """Runs of events of one key whose order is open and weighed by a law.

    `runs` of so many `events` in all; `widest`: the key of that of which the most sets of events, `sets`, may
    have happened in one cell of time; `work`: the sets of all runs together; `beyond`: runs of keys of more
    sets than the limit.
    """

    runs: int
    events: int
    widest: str | None
    sets: float
    work: float
    beyond: int

    def to_json(self) -> dict[str, Any]:
        """What is open, as values that JSON has."""
        return asdict(self)


def open_orders(plan: Plan, table: pa.Table, limit: int) -> OpenOrders:
    """The open orders of events under the laws of a plan, as rows are measured.

    Raises
    ------
    EventSchemaError
        If two laws speak of one event.
    """
    events = events_of(table, plan.clocks)
    orders = key_orders(plan.laws, events.frame, events.masses)
    weighed = np.zeros(0, dtype=np.int64) if orders is None else np.flatnonzero(orders.speaks)
    if orders is None or not len(weighed):
        return OpenOrders(0, 0, None, 0.0, 0.0, 0)
    sets = orders.sets[weighed]
    return OpenOrders(
        runs=len(weighed),
        events=int(np.diff(orders.starts)[weighed].sum()),
        widest=orders.name_of(int(weighed[np.argmax(sets)])),
        sets=float(sets.max()),
        work=float(sets.sum()),
        beyond=int(orders.beyond(limit)[weighed].sum()),
    )
