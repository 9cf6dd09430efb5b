"""Matches that a tool which trusts the raw times would not have found.

Every event of a match is put at the tick of its raw time, the only one it then has, and the match is
held to the pattern once more: order, window, timing constraints, and, for negation, next match and
contiguity, the absence of rivals at their own raw times.  Predicates on attributes held already and
hold again.  Ticks are known, so each constraint is one comparison of whole columns, and the rivals are
one range join.

A match that binds an event without a raw time cannot be judged and is counted apart; an event without
one is no rival.

Runs in the process that prints the rows: imports NumPy, Polars and PyArrow only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.bindings import Bound, Group, take
from cepctl.engines.coupling import block_group, spans_of
from cepctl.engines.events import Events
from cepctl.engines.group_predicates import group_link_holds
from cepctl.engines.masses import Masses
from cepctl.engines.predicates import fitting_events
from cepctl.engines.rivals import Rivals, Spans, link_holds_for_pairs, rivals_of
from cepctl.engines.shape import BlockKind, Point, Shape, shape_of
from cepctl.engines.types import Flags, Indexes, Ticks
from cepctl.language.ast import Strategy
from cepctl.plan.plan import Alternative, Plan, Scope, Timing

MATCHES_AT_ONCE = 1 << 18
"""How many matches are joined with their rivals at once; keeps memory flat."""


@dataclass(frozen=True)
class RawTimeCounts:
    """How many matches were `judged`, how many of them raw times `missed`, how many have `untimed` events."""

    judged: int
    missed: int
    untimed: int


def missed_by_raw_times(plan: Plan, matches: pa.Table, table: pa.Table) -> RawTimeCounts:
    """Count the matches that would not have been found at raw times.

    Parameters
    ----------
    plan
        The analyzed query.
    matches
        Rows of `cepctl.engines.match.match_schema`; only their signatures are read.
    table
        The events that the plan was run on, with event_id, event_type, time and the attributes of the
        plan.  Where nothing needs to be absent and the pattern has one alternative, the bound events
        and their ids and times are enough.
    """
    timed = table.filter(pc.is_valid(table.column("time")))
    bindings = _Signatures.of(matches.column("signature"), timed.column("event_id"))
    judged = np.flatnonzero(bindings.known)
    found = np.zeros(matches.num_rows, dtype=bool)
    if len(judged):
        events = _events_at_raw_times(timed, plan.time_unit.microseconds)
        for alternative in plan.alternatives:
            left = bindings.of_form(alternative, judged[~found[judged]])
            bound = bindings.bound(alternative, left)
            found[left] = _found_again(plan, alternative, events, bound, len(left))
    return RawTimeCounts(len(judged), int((~found[judged]).sum()), len(found) - len(judged))


@dataclass(frozen=True)
class _Signatures:
    """Which events matches bind: match i its components from outer[i] to outer[i + 1], a component j the
    events rows[inner[j]:inner[j + 1]]; a row of -1 is an event that is not known.
    """

    rows: Indexes
    inner: Indexes
    outer: Indexes

    @classmethod
    def of(cls, signatures: pa.ChunkedArray, ids: pa.ChunkedArray) -> _Signatures:
        matches = (
            pa.concat_arrays(signatures.chunks) if signatures.num_chunks else signatures.combine_chunks()
        )
        components = matches.flatten()
        members = pl.DataFrame({"id": pl.from_arrow(components.flatten())})
        numbered = pl.DataFrame({"id": pl.from_arrow(ids)}).with_row_index("row")
        joined = members.join(numbered, on="id", how="left", maintain_order="left")
        rows = joined.get_column("row").cast(pl.Int64).fill_null(-1).to_numpy()
        return cls(rows, _offsets(components), _offsets(matches))

    @property
    def known(self) -> Flags:
        """Matches all of whose events are known."""
        match = np.repeat(np.arange(len(self.outer) - 1), np.diff(self.inner[self.outer]))
        return np.asarray(np.bincount(match[self.rows < 0], minlength=len(self.outer) - 1) == 0)

    def of_form(self, alternative: Alternative, matches: Indexes) -> Indexes:
        """Those of some matches that bind as many components, and one event to each that is no group."""
        kleene = np.array([alternative.components[i].kleene for i in alternative.positive])
        matches = matches[np.diff(self.outer)[matches] == len(kleene)]
        sizes = np.diff(self.inner)[self.outer[matches][:, None] + np.arange(len(kleene))]
        return matches[np.all(kleene | (sizes == 1), axis=1)]

    def bound(self, alternative: Alternative, matches: Indexes) -> dict[int, Bound]:
        """What some matches of its form bind to the components of an alternative."""
        bound: dict[int, Bound] = {}
        for at, i in enumerate(alternative.positive):
            component = self.outer[matches] + at
            each = Group(self.inner, self.rows).take(component)
            bound[i] = each if alternative.components[i].kleene else each.members
        return bound


def _offsets(lists: pa.ListArray) -> Indexes:
    """Offsets into the flattened values, also where the array is a slice."""
    if not len(lists):
        return np.zeros(1, dtype=np.int64)
    offsets: Indexes = lists.offsets.to_numpy().astype(np.int64)
    return np.asarray(offsets - offsets[0])


def _events_at_raw_times(table: pa.Table, microseconds: int) -> Events:
    """The events, each at the one tick of its raw time."""
    ticks = np.asarray(table.column("time").cast(pa.int64()).to_numpy()) // microseconds
    count = len(ticks)
    masses = Masses(ticks, ticks, np.arange(count + 1), ticks, ticks, np.ones(count))
    frame = pl.from_arrow(table.select([name for name in table.column_names if name != "pmf"]))
    assert isinstance(frame, pl.DataFrame)
    return Events(masses, frame)


def _found_again(
    plan: Plan, alternative: Alternative, events: Events, bound: dict[int, Bound], count: int
) -> Flags:
    """Matches that the alternative has at raw times, shape (count,)."""
    holds = np.ones(count, dtype=bool)
    if not count:
        return holds
    shape = shape_of(plan, alternative)
    groups = _blocks(shape, bound)
    spans = spans_of(events.masses, groups)
    holds &= _in_order(shape, events.masses.lower, groups, spans)
    for timing in shape.timings:
        holds &= _timing_holds(timing, events.masses.lower, bound, count)
    if len(plan.alternatives) > 1:
        rows = np.flatnonzero(holds)
        holds[rows] = _fits(shape, events, _taken(bound, rows), len(rows))
    if shape.rules:
        rows = np.flatnonzero(holds)
        holds[rows] = ~_broken(plan, shape, events, _taken(bound, rows), len(rows))
    return holds


def _in_order(shape: Shape, tick: Ticks, groups: list[Group], spans: Spans) -> Flags:
    """Blocks strictly one after the other inside the window, and the members of sequences, too."""
    first, last = spans.first_lower, spans.last_lower
    holds = np.all(last[:, :-1] < first[:, 1:], axis=1)
    if shape.window is not None:
        holds &= last[:, -1] - first[:, 0] < shape.window
    for block, group in zip(shape.blocks, groups, strict=True):
        if block.kind is BlockKind.SEQUENCE:
            ticks, owner = tick[group.members], group.owner
            back = (np.diff(ticks) <= 0) & (owner[1:] == owner[:-1])
            holds[owner[1:][back]] = False
    return np.asarray(holds)


def _timing_holds(timing: Timing, tick: Ticks, bound: dict[int, Bound], count: int) -> Flags:
    """Whether a timing constraint holds for every member that it speaks of."""
    row, left, right = np.arange(count), np.zeros(count, np.int64), np.zeros(count, np.int64)
    for component, is_left in ((timing.left, True), (timing.right, False)):
        if component is None:
            continue
        each = take(bound[component], row)
        events = each.members if isinstance(each, Group) else each
        pair = each.owner if isinstance(each, Group) else np.arange(len(row))
        row = row[pair]
        left = tick[events] if is_left else left[pair]
        right = right[pair] if is_left else tick[events]
    wrong = left - right == timing.bound if timing.not_equal else left - right > timing.bound
    return np.asarray(np.bincount(row[wrong], minlength=count) == 0)


def _fits(shape: Shape, events: Events, bound: dict[int, Bound], count: int) -> Flags:
    """Whether the events fit the alternative's components: another one may have bound them."""
    alternative = shape.alternative
    holds = np.ones(count, dtype=bool)
    for i, each in bound.items():
        is_candidate = np.zeros(len(events), dtype=bool)
        is_candidate[fitting_events(events, alternative.components[i])] = True
        row = each.owner if isinstance(each, Group) else np.arange(count)
        member = each.members if isinstance(each, Group) else each
        fits = is_candidate[member]
        for link in alternative.links:
            if link.decides == i and link.scope is Scope.EVENT:
                fits &= link_holds_for_pairs(shape, events, link, i, bound, row, member)
        holds[row[~fits]] = False
    for link in alternative.links:
        if link.decides in bound and link.scope is not Scope.EVENT:
            holds &= group_link_holds(events, alternative, link, bound)
    return holds


def _broken(plan: Plan, shape: Shape, events: Events, bound: dict[int, Bound], count: int) -> Flags:
    """Whether a rival lies, at its raw time, where none may be; in batches, to bound the pairs."""
    candidates = tuple(fitting_events(events, each) for each in shape.alternative.components)
    by_partition = plan.strategy is Strategy.PARTITION_CONTIGUITY
    broken = np.zeros(count, dtype=bool)
    for begin in range(0, count, MATCHES_AT_ONCE):
        rows = np.arange(begin, min(begin + MATCHES_AT_ONCE, count))
        part = _taken(bound, rows)
        spans = spans_of(events.masses, _blocks(shape, part))
        for rivals in rivals_of(
            shape, events, candidates, plan.partition_by, part, spans, by_partition=by_partition
        ):
            inside = _inside(rivals, events.masses.lower, part, spans)
            broken[begin + rivals.row[inside]] = True
    return broken


def _inside(rivals: Rivals, tick: Ticks, bound: dict[int, Bound], spans: Spans) -> Flags:
    """Pairs whose event lies in one of the regions of its rule."""
    anywhere = np.zeros(len(rivals.row), dtype=bool)
    for region in rivals.rule.regions:
        inside = np.ones(len(rivals.row), dtype=bool)
        for end in region:
            limit = end.constant + (
                0 if end.point is None else _tick_of(end.point, tick, bound, spans)[rivals.row]
            )
            inside &= tick[rivals.event] >= limit if end.is_lower else tick[rivals.event] <= limit
        anywhere |= inside
    return anywhere


def _tick_of(point: Point, tick: Ticks, bound: dict[int, Bound], spans: Spans) -> Ticks:
    if point.role == "only":
        event = bound[point.component]
        assert not isinstance(event, Group)
        return tick[event]
    ticks = spans.first_lower if point.role == "first" else spans.last_lower
    return np.asarray(ticks[:, point.block])


def _blocks(shape: Shape, bound: dict[int, Bound]) -> list[Group]:
    return [block_group([bound[i] for i in block.components]) for block in shape.blocks]


def _taken(bound: dict[int, Bound], rows: Indexes) -> dict[int, Bound]:
    return {i: take(each, rows) for i, each in bound.items()}
