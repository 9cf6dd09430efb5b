"""Which matches no event still to come can change, and what brings the emitted rows up to date.

Events still to come begin at the watermark or later (what begins before it is late).  Three facts follow:

    a match that binds one of them ends at the watermark or later;
    a rival counts only at ticks before the last tick of a match, plus `after` where the query looks past it
    (trailing negation, a trailing Type+ under next match), so a match whose range ends before
    `watermark - after` stays as it is;
    rivals only take worlds away, so a range can shrink, but never below the last `lower` of its events.

    name here      in Li10, chapter on out-of-order events
    watermark      the clock of the K-slack: largest `lower` seen minus the slack
    decided_until  purge point: ranges that end before it are permanently valid
    least_ends     earliest tick at which a match can end, whatever comes

Corrections that bring the emitted rows up to date: rows to retract, rows to add.

A row is known by its match, and corrected to the last digit: the rows that stand at last are those of one run
over everything, and an event that might have decided a row may round its confidence otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.pattern.blocks import AbsenceRule
from cepctl.engines.pattern.shapes import absences_of, shape_of
from cepctl.numeric.arrays import Flags, Ticks
from cepctl.plan.passed_over import readings_apart
from cepctl.plan.plan import Plan
from cepctl.schema import TICK_MAX, TICK_MIN


@dataclass(frozen=True)
class DecidingReach:
    """How far around a match the events lie that decide it, in ticks.

    `window` is W, None for no bound.  `absences` says whether events that a match does not bind can decide
    it; `after` how far after its last tick they may lie.
    """

    window: int | None
    absences: bool
    after: int

    def earliest(self, end: int) -> int:
        """First tick of the events that can take part in or decide worlds whose last tick is `end`."""
        return TICK_MIN if self.window is None else clamped(end - self.window + 1)


def reach_of(plan: Plan) -> DecidingReach:
    """The reach of a plan, the widest of its alternatives.

    Examples
    --------
    >>> from cepctl.language.parser import parse
    >>> from cepctl.plan.analyze import analyze
    >>> from cepctl.plan.event_schema import EventSchema
    >>> from cepctl.schema import MILLISECOND
    >>> plan = analyze(parse("PATTERN SEQ(A a, B b, !C c) WITHIN 10 ticks"), EventSchema({}, MILLISECOND))
    >>> reach_of(plan)
    DecidingReach(window=10, absences=True, after=9)
    """
    rules = [rule for each in readings_apart(plan) for rule in absences_of(shape_of(plan, each))]
    return DecidingReach(plan.window, bool(rules), max((_after(rule) for rule in rules), default=0))


def _after(rule: AbsenceRule) -> int:
    """How many ticks after the last tick of a match its rivals may lie; TICK_MAX where nothing ends it."""
    ends = [
        min((end.constant for end in region if end.point is not None and not end.is_lower), default=TICK_MAX)
        for region in rule.regions
    ]
    return max(0, *ends)


def decided_until(watermark: int, reach: DecidingReach) -> int:
    """The tick before which a match must end so that no event still to come can touch it."""
    return clamped(watermark - reach.after)


def least_ends(matches: pa.Table, events: pa.Table) -> Ticks:
    """Earliest tick at which each match can end: the largest `lower` of its events, shape (n,)."""
    if not matches.num_rows:
        return np.zeros(0, dtype=np.int64)
    signature = pa.concat_arrays(matches.column("signature").chunks)
    components = signature.flatten()
    ids = pa.chunked_array(events.column("event_id")).combine_chunks()
    lower = events.column("lower").to_numpy()[pc.index_in(components.flatten(), value_set=ids).to_numpy()]
    first = components.offsets.to_numpy()[signature.offsets.to_numpy() - signature.offsets[0].as_py()]
    return np.maximum.reduceat(lower, first[:-1] - first[0])


def clamped(tick: int) -> int:
    """A tick brought into 64 bits."""
    return max(TICK_MIN, min(TICK_MAX, tick))


CHANGE = "change"
"""The column that marks a row as added (`+`) or retracted (`-`)."""


class Correction(NamedTuple):
    """Rows that no longer hold, and rows that hold now."""

    retracted: pa.Table
    added: pa.Table


def without(rows: pa.Table, others: pa.Table) -> pa.Table:
    """The rows that are not among the others."""
    if not rows.num_rows or not others.num_rows:
        return rows
    return rows.filter(pa.array(~_is_among(rows, others)))


def _is_among(rows: pa.Table, others: pa.Table) -> Flags:
    place = pc.index_in(rows.column("match"), value_set=_joined(others.column("match")))
    known = pc.is_valid(place).to_numpy()
    other = pc.fill_null(place, 0).to_numpy()
    same = known.copy()
    for name in ("start", "end", "confidence"):
        same &= rows.column(name).to_numpy() == others.column(name).to_numpy()[other]
    return np.asarray(same)


def marked(change: Correction) -> pa.Table:
    """The rows of a correction with the column `change`, in the order of `by_end`, `-` before `+`."""
    parts = [
        rows.add_column(0, CHANGE, pa.array([mark] * rows.num_rows, pa.string()))
        for mark, rows in zip("-+", change, strict=True)
    ]
    return by_end(pa.concat_tables(parts))


def by_end(rows: pa.Table) -> pa.Table:
    """Rows by `end`, then start, then match: the order in which incremental runs emit them."""
    keys = [(name, "ascending") for name in ("end", "start", "match")]
    if CHANGE in rows.column_names:
        keys.append((CHANGE, "descending"))
    return rows.take(pc.sort_indices(rows, keys))


def _joined(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks)
