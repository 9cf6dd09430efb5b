"""Blurred events: what would have been read of true times, and which intervals a model makes of that.

The reading of an event is its true tick less a draw from the mass of the rule that fits it, and less the
offset of its clock, which is drawn once for each clock.  An event that no rule fits keeps its true tick.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.arrays import Flags, Indexes, Numbers, Reals, Ticks
from cepctl.calibration.blurs import Blur
from cepctl.calibration.draws import drawn, places
from cepctl.calibration.truth import TrueEvents
from cepctl.clocks import Clocks, Offset, extremes, two_offsets
from cepctl.errors import EventSchemaError, UsageError
from cepctl.schema import CLOCK, FIXED_COLUMNS, PMF_TYPE, TimeUnit, time_type
from cepctl.uncertainty.assign import Assigned, RawTimes, assign, fitted
from cepctl.uncertainty.model import Rule
from cepctl.uncertainty.shapes import Bucket, Granularity, widened
from cepctl.uncertainty.stamping import Stamped, Unstamped, rule_offset, stamped

ZONE = "zone_seconds"
Columns = Mapping[str, pa.Array | pa.ChunkedArray]


@dataclass(frozen=True)
class BlurredEvents:
    """Events with uncertain times, sorted by `lower` and id, and what is true of them.

    `truth`: the same events in the same order.  `table`: the fixed columns (cepctl.schema), `clock` where
    some event has one, then attributes; its `time` is what was read.  `clocks`: those that it names.
    """

    truth: TrueEvents
    table: pa.Table
    clocks: Clocks

    def __len__(self) -> int:
        return len(self.truth)


def blurred_events(truth: TrueEvents, blur: Blur, seed: int, unit: TimeUnit) -> BlurredEvents:
    """Hide the true times of events; the same seed hides each event in the same way.

    Raises
    ------
    UsageError
        If the blur hides nothing.
    UncertaintyModelError
        If a rule cannot be applied to an event that it fits.
    """
    events = _columns(truth)
    won, _ = fitted(blur.rules, events, np.ones(len(truth), dtype=bool))
    names = _clock_names(truth, blur.rules, won, events, unit)
    reading = truth.tick - _errors(blur.rules, won, seed, events["event_id"], unit)
    reading = reading - _offsets(blur.rules, won, seed, names, unit)
    zone = _zones(truth.table)
    instants = _at_begin_of_units(reading * unit.counts, blur.rules, won, zone, unit)
    assigned = assign(_raw_times(instants, zone, names, unit), events, blur.rules, unit)
    found = _in_order(truth, assigned, instants, unit)
    if pc.all(pc.equal(found.table.column("lower"), found.table.column("upper"))).as_py():
        raise UsageError(
            f"{blur.text} hides nothing: each of {len(truth):,} events keeps its one tick of {unit}; name a "
            "longer duration, or a rule that fits some event"
        )
    return found


def unstamped_events(truth: TrueEvents, blur: Blur) -> dict[tuple[int, Unstamped], int]:
    """How many events some rules pass over, by the rule: they have nothing to tell their clock by."""
    return fitted(blur.rules, _columns(truth), np.ones(len(truth), dtype=bool))[1]


def _columns(truth: TrueEvents) -> Columns:
    names = ["event_id", "event_type", "source", *_attributes(truth.table)]
    return {name: truth.table.column(name) for name in names}


def _attributes(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name not in FIXED_COLUMNS and name != CLOCK]


def _errors(
    rules: Sequence[Rule], won: Sequence[Flags], seed: int, ids: pa.ChunkedArray, unit: TimeUnit
) -> Numbers:
    """By how many ticks the true tick of each event is later than its own reading, shape (n,)."""
    found = np.zeros(len(ids), dtype=np.int64)
    for rule, rows in zip(rules, won, strict=True):
        buckets = _buckets(rule, unit)
        if not buckets or not rows.any():
            continue
        which, where = (drawn(seed, purpose, ids.filter(pa.array(rows))) for purpose in ("bucket", "tick"))
        chosen = _chosen(np.array([bucket.mass for bucket in buckets]), which)
        first, last = (np.array([getattr(each, end) for each in buckets]) for end in ("first", "last"))
        found[rows] = places(where, first[chosen], last[chosen])
    return found


def _buckets(rule: Rule, unit: TimeUnit) -> tuple[Bucket, ...]:
    """The mass of the true tick around a reading; none where the reading tells its unit alone."""
    ends = None if rule.interval is None else rule.interval.offsets(unit)
    if rule.shape is None or isinstance(rule.shape, Granularity):
        return () if ends is None else (Bucket(*ends, 1.0),)
    buckets = rule.shape.buckets(unit)
    return buckets if ends is None else widened(buckets, *ends)


def _chosen(mass: Reals, shares: Reals) -> Indexes:
    """The bucket that each share of all mass falls into."""
    upto = np.cumsum(mass)
    return np.minimum(np.searchsorted(upto / upto[-1], shares, side="right"), len(mass) - 1)


def _clock_names(
    truth: TrueEvents, rules: Sequence[Rule], won: Sequence[Flags], events: Columns, unit: TimeUnit
) -> pa.Array:
    """The name of each event's clock, null for none; it does not depend on what is read."""
    none = Stamped.none(len(truth))
    return stamped(none, truth.tick, truth.tick, won, rules, events, unit).clock


def _offsets(
    rules: Sequence[Rule], won: Sequence[Flags], seed: int, names: pa.Array, unit: TimeUnit
) -> Numbers:
    """The offset of each event's clock, 0 for none, shape (n,)."""
    found = np.zeros(len(names), dtype=np.int64)
    for rule, rows in zip(rules, won, strict=True):
        if rule.clock is None or not rows.any():
            continue
        lo, hi, mass = (np.array(side) for side in zip(*rule_offset(rule, unit), strict=True))
        own = names.filter(pa.array(rows))
        which, where = (drawn(seed, f"clock {purpose}", own) for purpose in ("bucket", "tick"))
        chosen = _chosen(mass, which)
        found[rows] = places(where, lo[chosen], hi[chosen])
    return found


def _zones(table: pa.Table) -> Numbers:
    if ZONE not in table.column_names:
        return np.zeros(len(table), dtype=np.int64)
    return np.asarray(pc.fill_null(table.column(ZONE), 0).to_numpy(), dtype=np.int64)


def _at_begin_of_units(
    instants: Ticks, rules: Sequence[Rule], won: Sequence[Flags], zone: Numbers, unit: TimeUnit
) -> Ticks:
    """What is read where a rule tells the unit of a time alone: its beginning, in the zone of the event."""
    found = instants.copy()
    for rule, rows in zip(rules, won, strict=True):
        if isinstance(rule.shape, Granularity):
            grain = max(int(rule.shape.microseconds * unit.per_microsecond), 1)
            local = zone[rows] * (1_000_000 * unit.per_microsecond)
            found[rows] = (instants[rows] + local) // grain * grain - local
    return found


def _raw_times(instants: Ticks, zone: Numbers, names: pa.Array, unit: TimeUnit) -> RawTimes:
    """What is read, for the rules; one that tells of a clock alone leaves the own part at what is read."""
    count, reading = len(instants), instants // unit.counts
    zeros = np.zeros(count, dtype=np.int64)
    return RawTimes(
        instants=instants,
        known=np.ones(count, dtype=bool),
        zone_seconds=zone,
        before=zeros,
        after=zeros,
        lower=reading,
        upper=reading,
        given=np.ones(count, dtype=bool),
        pmf=pa.nulls(count, PMF_TYPE),
        clocks=None if names.null_count == count else Stamped.none(count),
    )


def _in_order(truth: TrueEvents, assigned: Assigned, instants: Ticks, unit: TimeUnit) -> BlurredEvents:
    """The events with their intervals; of those on clocks all ticks at which they can be."""
    clocks, clock = dict[str, Offset](), pa.nulls(len(truth), pa.string())
    lower, upper = assigned.lower, assigned.upper
    if assigned.clocks is not None:
        clock = assigned.clocks.clock
        clocks = _offsets_of_clocks(assigned.clocks)
        ends = [*map(extremes, clocks.values()), (0, 0)]
        place = pc.fill_null(pc.index_in(clock, pa.array(list(clocks), pa.string())), len(clocks)).to_numpy()
        least, most = (np.array(side, dtype=np.int64) for side in zip(*ends, strict=True))
        lower, upper = lower + least[place], upper + most[place]
    order = pc.sort_indices(
        pa.table({"lower": lower, "event_id": truth.table.column("event_id")}),
        [("lower", "ascending"), ("event_id", "ascending")],
    )
    told = {"lower": pa.array(lower), "upper": pa.array(upper), "pmf": assigned.pmf}
    told["time"] = pa.array(instants).cast(time_type(unit))
    table = event_table(truth.table, told, clock if clocks else None).take(order)
    at = order.to_numpy()
    ordered = replace(truth, table=truth.table.take(order), tick=truth.tick[at], key=truth.key[at])
    return BlurredEvents(ordered, table, clocks)


def _offsets_of_clocks(found: Stamped) -> dict[str, Offset]:
    """The offset of every clock; raises EventSchemaError where one has two."""
    from cepctl.clocks import parse_offset

    pairs = pa.table({"clock": found.clock, "offset": found.offset}).group_by(["clock", "offset"])
    offsets: dict[str, Offset] = {}
    for name, text in zip(*(each.to_pylist() for each in pairs.aggregate([]).columns), strict=True):
        offset = None if name is None else parse_offset(text)
        if offset is not None and offsets.setdefault(name, offset) != offset:
            raise EventSchemaError(two_offsets(name, offsets[name], offset))
    return {name: offsets[name] for name in sorted(offsets)}


def event_table(table: pa.Table, told: Mapping[str, pa.Array], clock: pa.Array | None) -> pa.Table:
    """An event table with other times: `told` are `lower` and `upper`, and `pmf`, `time`."""
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for name, kind in FIXED_COLUMNS.items():
        kept = table.column(name) if name in ("event_id", "event_type", "source", "time") else None
        columns[name] = told.get(name, pa.nulls(len(table), kind) if kept is None else kept)
    if clock is not None:
        columns[CLOCK] = clock
    return pa.table(columns | {name: table.column(name) for name in _attributes(table)})


def at_true_ticks(truth: TrueEvents) -> pa.Table:
    """The events at their true ticks, sorted by these and id."""
    told = {"lower": pa.array(truth.tick), "upper": pa.array(truth.tick)}
    return event_table(truth.table, told, None).sort_by([("lower", "ascending"), ("event_id", "ascending")])
