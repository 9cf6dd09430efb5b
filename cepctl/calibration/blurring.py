"""Blurred events: what would have been read of true times, and which intervals a model makes of that.

The reading of an event is its true tick less a draw from the mass of the rule that fits it, and less the
offset of its clock, which is drawn once for each clock.  An event that no rule fits keeps its true tick.
Where the errors of clocks were recorded, the reading is one that the rule takes back to the true tick
(recorded_readings.py); an event that has none is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.calibration.blurs import Blur
from cepctl.calibration.draws import chosen, drawn, places
from cepctl.calibration.recorded_readings import drawn_offsets, fitting_readings
from cepctl.calibration.truth import TrueEvents
from cepctl.clocks.shared import Clocks, Offset, extremes, two_offsets
from cepctl.errors import EventSchemaError, UsageError
from cepctl.event_table import FIXED_COLUMNS, PMF_TYPE, time_type
from cepctl.ingestion.clocks import with_ties
from cepctl.io.contract.clock_offsets import shifted
from cepctl.numeric.arrays import Flags, Numbers, Reals, Ticks
from cepctl.schema import CLOCK, TimeUnit
from cepctl.uncertainty.assign import Assigned, RawTimes, assign, fitted
from cepctl.uncertainty.model import Rule
from cepctl.uncertainty.recorded_offsets import RecordedOffset
from cepctl.uncertainty.shapes import Bucket, Granularity, widened
from cepctl.uncertainty.stamping import LookUp, Stamped, Unstamped, rule_offset, stamped

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
    truth, instants, names = _read(truth, blur, seed, unit)
    raw = _raw_times(instants, _zones(truth.table), names, unit)
    assigned = assign(raw, _columns(truth), blur.rules, unit)
    found = _in_order(truth, assigned, instants, unit)
    found = replace(found, clocks=with_ties(found.clocks, blur.rules, (), unit))
    if pc.all(pc.equal(found.table.column("lower"), found.table.column("upper"))).as_py():
        raise UsageError(
            f"{blur.text} hides nothing: each of {len(truth):,} events keeps its one tick of {unit}; name a "
            "longer duration, or a rule that fits some event"
        )
    return found


def _read(truth: TrueEvents, blur: Blur, seed: int, unit: TimeUnit) -> tuple[TrueEvents, Ticks, pa.Array]:
    """The events that can be read, what is read of them, and the names of their clocks.

    What is read has the shape (n,) and the resolution of the unit.
    """
    events, everyone = _columns(truth), np.ones(len(truth), dtype=bool)
    ids = events["event_id"]
    recorded, stamps = _recorded_readings(truth, blur, seed, unit)
    readings = np.where(stamps, recorded, truth.tick)
    won, _ = fitted(blur.rules, LookUp(events, readings * unit.nanoseconds), everyone)
    names = _clock_names(readings, blur.rules, won, events, unit)
    plain = (
        truth.tick - _errors(blur.rules, won, seed, ids, unit) - _offsets(blur.rules, won, seed, names, unit)
    )
    read = np.where(stamps, recorded, plain) * unit.counts
    instants = _at_begin_of_units(read, blur.rules, won, _zones(truth.table), unit)
    if blur.recorded is None:
        return truth, instants, names
    # Where a rule would take an event for another clock's, nothing stands for its true tick.
    again, _ = fitted(blur.rules, LookUp(events, instants // unit.counts * unit.nanoseconds), everyone)
    at = blur.rules.index(blur.recorded)
    kept = (won[at] == stamps) & (again[at] == stamps)
    if not kept.any():
        raise UsageError(
            f"{blur.text} has no reading for any of {len(truth):,} events: its clocks show none of their "
            "true times; take records of the same time as the events"
        )
    return truth.taken(kept), instants[kept], names.filter(pa.array(kept))


def _recorded_readings(truth: TrueEvents, blur: Blur, seed: int, unit: TimeUnit) -> tuple[Ticks, Flags]:
    """In ticks what a recorded clock shows of each event, and of which it shows something; shape (n,)."""
    readings, has_one = truth.tick.copy(), np.zeros(len(truth), dtype=bool)
    rule = blur.recorded
    if rule is None:
        return readings, has_one
    assert rule.clock is not None
    assert rule.clock.by is not None
    assert isinstance(rule.clock.offset, RecordedOffset)
    # Whatever the clock shows, the other conditions say which events the rule means.
    meaning = [replace(each, clock=None) if each is rule else each for each in blur.rules]
    events = _columns(truth)
    won, _ = fitted(meaning, LookUp(events, truth.tick), np.ones(len(truth), dtype=bool))
    rows = np.flatnonzero(won[blur.rules.index(rule)])
    ids, hosts = (events[name].take(pa.array(rows)) for name in ("event_id", rule.clock.by))
    own = truth.tick - _errors(meaning, won, seed, events["event_id"], unit)

    def draw(purpose: str, names: Sequence[str]) -> Reals:
        return drawn(seed, f"clock {purpose}", pa.array(names, pa.string()))

    offsets = drawn_offsets(rule.clock.offset, rule.clock.by, unit, draw)
    texts = pa.chunked_array([*hosts.cast(pa.string()).chunks], pa.string()).combine_chunks()
    found = fitting_readings(rule.clock.offset, texts, own[rows], offsets, unit)
    event, reading = found.one_each(drawn(seed, "reading", ids))
    readings[rows[event]], has_one[rows[event]] = reading, True
    return readings, has_one


def unstamped_events(truth: TrueEvents, blur: Blur, unit: TimeUnit) -> dict[tuple[int, Unstamped], int]:
    """How many events some rules pass over, by the rule and why: at their true times, if that matters."""
    everyone = np.ones(len(truth), dtype=bool)
    return fitted(blur.rules, LookUp(_columns(truth), truth.tick * unit.nanoseconds), everyone)[1]


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
        place = chosen(np.array([bucket.mass for bucket in buckets]), which)
        first, last = (np.array([getattr(each, end) for each in buckets]) for end in ("first", "last"))
        found[rows] = places(where, first[place], last[place])
    return found


def _buckets(rule: Rule, unit: TimeUnit) -> tuple[Bucket, ...]:
    """The mass of the true tick around a reading; none where the reading tells its unit alone."""
    ends = None if rule.interval is None else rule.interval.offsets(unit)
    if rule.shape is None or isinstance(rule.shape, Granularity):
        return () if ends is None else (Bucket(*ends, 1.0),)
    buckets = rule.shape.buckets(unit)
    return buckets if ends is None else widened(buckets, *ends)


def _clock_names(
    readings: Ticks, rules: Sequence[Rule], won: Sequence[Flags], events: Columns, unit: TimeUnit
) -> pa.Array:
    """The name of each event's clock, null for none; only that of a recorded one depends on what is read."""
    none = Stamped.none(len(readings))
    return stamped(none, readings, LookUp(events, readings * unit.nanoseconds), won, rules, unit).clock


def _offsets(
    rules: Sequence[Rule], won: Sequence[Flags], seed: int, names: pa.Array, unit: TimeUnit
) -> Numbers:
    """The offset of each event's clock, 0 for none, shape (n,)."""
    found = np.zeros(len(names), dtype=np.int64)
    for rule, rows in zip(rules, won, strict=True):
        if rule.clock is None or isinstance(rule.clock.offset, RecordedOffset) or not rows.any():
            continue
        lo, hi, mass = (np.array(side) for side in zip(*rule_offset(rule, unit), strict=True))
        own = names.filter(pa.array(rows))
        which, where = (drawn(seed, f"clock {purpose}", own) for purpose in ("bucket", "tick"))
        place = chosen(mass, which)
        found[rows] = places(where, lo[place], hi[place])
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
    lower, upper, pmf = assigned.lower, assigned.upper, assigned.pmf
    if assigned.clocks is not None:
        own = shifted(pa.table({"lower": lower, "upper": upper, "pmf": pmf}), assigned.clocks.moved)
        lower, upper = (own.column(name).to_numpy() for name in ("lower", "upper"))
        pmf = own.column("pmf")
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
    times = {"lower": pa.array(lower), "upper": pa.array(upper), "pmf": pmf}
    times["time"] = pa.array(instants).cast(time_type(unit))
    table = event_table(truth.table, times, clock if clocks else None).take(order)
    at = order.to_numpy()
    ordered = replace(truth, table=truth.table.take(order), tick=truth.tick[at], key=truth.key[at])
    return BlurredEvents(ordered, table, clocks)


def _offsets_of_clocks(found: Stamped) -> dict[str, Offset]:
    """The offset of every clock; raises EventSchemaError where one has two."""
    from cepctl.clocks.shared import parse_offset

    pairs = pa.table({"clock": found.clock, "offset": found.offset}).group_by(["clock", "offset"])
    offsets: dict[str, Offset] = {}
    for name, text in zip(*(each.to_pylist() for each in pairs.aggregate([]).columns), strict=True):
        offset = None if name is None else parse_offset(text)
        if offset is not None and offsets.setdefault(name, offset) != offset:
            raise EventSchemaError(two_offsets(name, offsets[name], offset))
    return {name: offsets[name] for name in sorted(offsets)}


def event_table(
    table: pa.Table, times: Mapping[str, pa.Array | pa.ChunkedArray], clock: pa.Array | None
) -> pa.Table:
    """An event table with other times: `times` are `lower` and `upper`, and `pmf`, `time`."""
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for name, kind in FIXED_COLUMNS.items():
        kept = table.column(name) if name in ("event_id", "event_type", "source", "time") else None
        columns[name] = times.get(name, pa.nulls(len(table), kind) if kept is None else kept)
    if clock is not None:
        columns[CLOCK] = clock
    return pa.table(columns | {name: table.column(name) for name in _attributes(table)})


def at_true_ticks(truth: TrueEvents) -> pa.Table:
    """The events at their true ticks, sorted by these and id."""
    times = {"lower": pa.array(truth.tick), "upper": pa.array(truth.tick)}
    return event_table(truth.table, times, None).sort_by([("lower", "ascending"), ("event_id", "ascending")])
