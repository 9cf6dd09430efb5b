"""One incremental run: the state before it and the events that are new -> rows to emit, the state after it.

A pure function of tables.  One comparison decides what is emitted: `provisional` rows were emitted before and
may change, `true` rows are what all events up to now give.  A delayed run adds the true rows that end
before `finalized_before`, the tick before which no later run emits an end; an eager run adds them all; both
retract provisional rows that are no longer true.  Moving `finalized_before` forward makes each row be emitted
once, without a list of the rows emitted so far.

Why a row is right once it is emitted, and why no event is dropped too early, is in finality.py; for the
order, `finalized_before` passes no match that may yet change: it stops at the earliest tick where that match
can end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.runners.reach import Relevance
from cepctl.errors import UnsupportedQueryError
from cepctl.numeric.arrays import Ticks
from cepctl.plan.given import refuse_given, without_written_order
from cepctl.plan.laws import refuse_laws
from cepctl.plan.plan import Plan
from cepctl.plan.support import refuse_conditions_on_ends, refuse_lasting_events
from cepctl.schema import TICK_MAX, TICK_MIN
from cepctl.state.finality import (
    Correction,
    DecidingReach,
    by_end,
    clamped,
    decided_until,
    least_ends,
    marked,
    reach_of,
    without,
)
from cepctl.state.progress import Progress
from cepctl.state.written_order import WrittenEvents, behind_closed

Find: TypeAlias = Callable[[Plan, pa.Table], pa.Table]
"""An engine: the rows of a plan on an event table, as `rows.order.ordered` gives them."""


@dataclass(frozen=True)
class RunOptions:
    """How one run behaves; ticks throughout.

    `slack` is how much later than a younger event an event may come; `keep` how far below the watermark a
    late event may begin so that a later run can reopen its span.  `eager` emits rows that may still
    change, `reopen` takes late events in, `final` emits everything and closes the state.  Times have been
    read in so many ticks as `ticks_of_a_time` says.
    """

    slack: int = 0
    keep: int = 0
    eager: bool = False
    reopen: bool = False
    final: bool = False
    ticks_of_a_time: int = 1


@dataclass(frozen=True)
class Outcome:
    """The result of a run.

    `rows` are in the order of `by_end`; with the column `change` where some of them may be corrections.
    `late` are the events of this run that came too late and were left out (for now, or for good);
    `too_late` of them, and of those kept before, are beyond what the history allows to reopen.  `waiting` are
    found and not emitted yet.
    """

    rows: pa.Table
    progress: Progress
    late: pa.Table
    too_late: int
    waiting: Waiting


@dataclass(frozen=True)
class Waiting:
    """How many matches are not emitted yet, and the tick at which an event must begin so that all are.

    Without any the tick is None, as it is where no event can be late enough.
    """

    matches: int = 0
    until: int | None = None


def advance(before: Progress, arrived: pa.Table, plan: Plan, find: Find, options: RunOptions) -> Outcome:
    """Take in the events that arrived and emit what can be emitted.

    `before`: the state that the last run left.  `arrived`: new events: the fixed columns and the plan's
    attributes, in any order.  `plan`, `find`: the query, and the engine that finds its rows.  `options`: how
    to run.

    Raises
    ------
    CepctlError
        What the engine raises; the state is then the one before.
    """
    refuse_given(without_written_order(plan), "--state")
    if plan.given and options.reopen:
        raise UnsupportedQueryError(
            "not supported yet: --reopen where the order of records is known, since a late record steps "
            "back in it; begin a new state with --reopen, which leaves that of lines out, or raise --slack"
        )
    refuse_laws(plan, "--state")
    refuse_conditions_on_ends(plan, "--state")
    reach = reach_of(plan)
    fresh, repeated = _new_to(before, arrived)
    is_late = pc.or_(
        pc.less(fresh.column("lower"), TICK_MIN if before.watermark is None else before.watermark),
        pa.array(behind_closed(fresh, before.closed_records)),
    )
    late = fresh.filter(is_late)
    relevance = Relevance(plan)
    held = pa.concat_tables([before.late, relevance.relevant(late)])
    on_time = relevance.relevant(fresh.filter(pc.invert(is_late)))
    for each in (on_time, held):
        refuse_lasting_events(plan, each, "--state")
    newest = _largest(before.newest, pc.max(fresh.column("lower")).as_py())
    watermark = before.watermark
    if newest is not None:
        watermark = _largest(watermark, clamped(newest - options.slack))
    counts = replace(
        before.counts,
        events=before.counts.events + fresh.num_rows,
        late=before.counts.late + late.num_rows,
        repeated=before.counts.repeated + repeated,
    )
    now = replace(before, newest=newest, watermark=watermark, counts=counts)
    reopened = held.slice(0, 0)
    too_late = 0
    if options.reopen:
        limit = _reopening_limit(before, held, reach)
        can = pc.greater_equal(held.column("lower"), limit)
        reopened, held = held.filter(can), held.filter(pc.invert(can))
        too_late = held.num_rows
        now = _reopened(now, reopened, plan, find, reach)
    events = _in_order(pa.concat_tables([now.events, reopened, on_time]))
    emitted, after, waiting = _emitted(replace(now, events=events, late=held), plan, find, options, reach)
    changed = options.eager or options.reopen or before.provisional.num_rows
    rows = marked(emitted) if changed else by_end(emitted.added)
    return Outcome(rows, after, late, too_late, waiting)


def _new_to(before: Progress, arrived: pa.Table) -> tuple[pa.Table, int]:
    """The events whose ids are not known yet, and how many others there were."""
    known = pa.chunked_array(
        [*before.events.column("event_id").chunks, *before.late.column("event_id").chunks], pa.string()
    )
    fresh = arrived.filter(pc.invert(pc.is_in(arrived.column("event_id"), value_set=known)))
    return fresh.select(before.events.column_names), arrived.num_rows - fresh.num_rows


def _emitted(
    now: Progress, plan: Plan, find: Find, options: RunOptions, reach: DecidingReach
) -> tuple[Correction, Progress, Waiting]:
    """What to emit, given all events up to now, the state after it, and what waits."""
    written = WrittenEvents.of(now.events, now.steps, options.ticks_of_a_time)
    working = written.table.filter(pa.array(written.reaching(reach.earliest(now.pending))))
    true = find(plan, working)
    true = true.filter(pc.greater_equal(true.column("end"), now.finalized_before))
    ends, least = true.column("end").to_numpy(), least_ends(true, working)
    finalized_before = _finalized_before(now, ends, least, reach, written)
    is_open = np.full(len(ends), False) if options.final else ends >= finalized_before
    due = true if options.eager else true.filter(pa.array(~is_open))
    emitted = Correction(without(now.provisional, true), without(due, now.provisional))
    provisional = pa.concat_tables([without(now.provisional, emitted.retracted), emitted.added])
    provisional = provisional.filter(pc.greater_equal(provisional.column("end"), finalized_before))
    pending = int(least[is_open].min(initial=finalized_before))
    counts = replace(
        now.counts,
        emitted=now.counts.emitted + emitted.added.num_rows,
        retracted=now.counts.retracted + emitted.retracted.num_rows,
    )
    after = replace(
        now, finalized_before=finalized_before, pending=pending, provisional=provisional, counts=counts
    )
    waiting = Waiting() if options.eager else _waiting(ends[is_open], options, reach, written)
    return emitted, _closed(after) if options.final else _kept(after, plan, options, reach, written), waiting


def _waiting(ends: Ticks, options: RunOptions, reach: DecidingReach, written: WrittenEvents) -> Waiting:
    if not len(ends):
        return Waiting()
    decisive = int(ends.max()) + reach.after
    narrowed = written.last[written.written & (written.first <= decisive)].max(initial=decisive)
    until = int(narrowed) + 1 + options.slack
    return Waiting(len(ends), until if until <= TICK_MAX else None)


def _finalized_before(
    now: Progress, ends: Ticks, least: Ticks, reach: DecidingReach, written: WrittenEvents
) -> int:
    """The tick before which no later run emits an end: all that can end there is decided."""
    if now.watermark is None:
        return now.finalized_before
    decided = decided_until(min(now.watermark, written.open_from(now.watermark)), reach)
    may_change = (ends >= decided) & (reach.absences | bool(written.written.any()))
    return max(now.finalized_before, int(least[may_change].min(initial=decided)))


def _kept(
    now: Progress, plan: Plan, options: RunOptions, reach: DecidingReach, written: WrittenEvents
) -> Progress:
    """The state without the events that neither future matches nor a span to be reopened need."""
    watermark = TICK_MIN if now.watermark is None else now.watermark
    complete_from = reach.earliest(now.pending)
    if options.keep and now.watermark is not None:
        oldest = now.watermark - options.keep - reach.after - _widest(now.events)
        complete_from = min(complete_from, reach.earliest(clamped(oldest)))
    complete_from = max(complete_from, now.complete_from)
    kept = written.reaching(complete_from)
    if plan.given:
        fitting = Relevance(plan).fitting(now.events).to_numpy(zero_copy_only=False)
        kept &= written.needed(fitting, watermark)
    after = replace(
        now,
        events=now.events.filter(pa.array(kept)),
        complete_from=complete_from,
        steps=written.steps_among(kept),
        closed_records=written.closed_after(now.closed_records, watermark),
    )
    limit = _reopening_limit(after, now.late, reach)
    return replace(after, late=now.late.filter(pc.greater_equal(now.late.column("lower"), limit)))


def _closed(now: Progress) -> Progress:
    empty = now.events.slice(0, 0)
    return replace(now, events=empty, late=empty, provisional=now.provisional.slice(0, 0), closed=True)


def _reopening_limit(before: Progress, late: pa.Table, reach: DecidingReach) -> int:
    """The smallest `lower` of a late event all of whose matches can be computed again.

    They end no earlier than it, but for events as wide as the widest, and need what lies a window before.
    """
    if before.complete_from == TICK_MIN:
        return TICK_MIN
    widest = max(_widest(before.events), _widest(late))
    return clamped(before.complete_from + (reach.window or 1) - 1 + reach.after + widest)


def _reopened(now: Progress, late: pa.Table, plan: Plan, find: Find, reach: DecidingReach) -> Progress:
    """The state as if nothing that late events can touch were final; its rows become provisional."""
    if not late.num_rows:
        return now
    widest = max(_widest(now.events), _widest(late))
    touched = clamped(pc.min(late.column("lower")).as_py() - reach.after - widest)
    counts = replace(now.counts, reopened=now.counts.reopened + late.num_rows)
    if touched >= now.finalized_before:
        return replace(now, counts=counts, pending=min(now.pending, touched))
    old = find(plan, now.events)
    ends = old.column("end")
    before = old.filter(pc.and_(pc.greater_equal(ends, touched), pc.less(ends, now.finalized_before)))
    return replace(
        now,
        provisional=pa.concat_tables([now.provisional, before]),
        finalized_before=touched,
        pending=TICK_MIN,
        counts=counts,
    )


def _in_order(events: pa.Table) -> pa.Table:
    keys = [("lower", "ascending"), ("event_id", "ascending")]
    return events.take(pc.sort_indices(events, keys)).combine_chunks()


def _widest(events: pa.Table) -> int:
    """Ticks between the ends of the widest interval."""
    lower, upper = (events.column(name).to_numpy() for name in ("lower", "upper"))
    return int((upper.astype(np.uint64) - lower.astype(np.uint64)).max(initial=0))


def _largest(known: int | None, other: int | None) -> int | None:
    return max((each for each in (known, other) if each is not None), default=None)
