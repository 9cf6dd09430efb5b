"""What a file says of single events: the instants that a time may be, as intervals and masses in ticks.

A tick is all the instants that it holds, so an interval reaches from the tick of its first instant to that
of its last.  Neighbouring buckets may share a tick; it goes to the earlier one.  A normal distribution is cut
where a rule of a model with `cut = 4` would cut it, and has the same buckets.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.event_table import PMF_TYPE
from cepctl.ingestion.chunks import has_column
from cepctl.io.contract.reader import END_SPAN, SPAN
from cepctl.io.contract.rescaling import apart
from cepctl.numeric.arrays import Numbers, Ticks
from cepctl.schema import END_PMF, LATEST_TICK, MICROSECOND, MILLISECOND, NANOSECOND, TimeUnit
from cepctl.uncertainty.assign import RawTimes, assign
from cepctl.uncertainty.model import Rule
from cepctl.uncertainty.shapes import Normal

CUT = Fraction(4)
_COLUMNS = ((SPAN, "lower", "upper", "pmf"), (END_SPAN, "end_lower", "end_upper", END_PMF))
_PER_MICROSECOND = 1_000


def unit_of_spans(table: pa.Table) -> TimeUnit:
    """The finest digit of the instants in spans, a millisecond where none is finer."""
    found = MILLISECOND
    for name, *_ in _COLUMNS:
        if has_column(table, name):
            flat = _flat(table, name)
            if any(np.any(_numbers(flat, field)) for field in ("lo_nanos", "hi_nanos")):
                return NANOSECOND
            if any(np.any(_numbers(flat, field) % _PER_MICROSECOND) for field in ("lo", "hi")):
                found = MICROSECOND
    return found


def with_spans(table: pa.Table, unit: TimeUnit) -> pa.Table:
    """Fill `lower`, `upper` and `pmf`, and those of ends, of the events with spans; drops these columns."""
    for name, lower, upper, pmf in _COLUMNS:
        if not has_column(table, name):
            continue
        rows = np.flatnonzero(pc.is_valid(table.column(name)).to_numpy())
        if len(rows):
            first, last, masses = _intervals(table, name, unit)
            table = _filled(table, lower, rows, pa.array(first))
            table = _filled(table, upper, rows, pa.array(last))
            if masses.null_count < len(masses) and not has_column(table, pmf):
                table = table.append_column(pmf, pa.nulls(len(table), PMF_TYPE))
            if has_column(table, pmf):
                table = _filled(table, pmf, rows, masses)
        table = table.drop_columns([name])
    return table


def _intervals(table: pa.Table, name: str, unit: TimeUnit) -> tuple[Ticks, Ticks, pa.Array]:
    """First and last tick and mass of all spans, each once."""
    spans = table.column(name).drop_null().combine_chunks()
    flat = _flat(table, name)
    starts = np.concatenate([[0], np.cumsum(pc.list_value_length(spans).to_numpy())])
    lo, hi = (_ticks(flat, field, unit) for field in ("lo", "hi"))
    first, last = lo[starts[:-1]], hi[starts[1:] - 1]
    masses = _histograms(starts, lo, hi, _numbers(flat, "p"))
    sigmas = pc.fill_null(flat.field("sigma"), 0.0).to_numpy()[starts[:-1]]
    if not sigmas.any():
        return first, last, masses
    pieces, order = [masses.filter(pa.array(sigmas == 0))], [np.flatnonzero(sigmas == 0)]
    for sigma in np.unique(sigmas[sigmas > 0]):
        rows = np.flatnonzero(sigmas == sigma)
        first[rows], last[rows], of_rows = _normal(flat.take(pa.array(starts[rows])), float(sigma), unit)
        pieces, order = [*pieces, of_rows], [*order, rows]
    back = np.argsort(np.concatenate(order), kind="stable")
    return first, last, pa.concat_arrays(pieces).take(pa.array(back))


def _normal(means: pa.Array, sigma: float, unit: TimeUnit) -> tuple[Ticks, Ticks, pa.Array]:
    """As a rule of a model would give to events at the means."""
    count = len(means)
    none, everywhere = np.zeros(count, np.int64), np.ones(count, np.bool_)
    counts = _instants(means, "lo", unit)
    times = RawTimes(counts, everywhere, none, none, none, none, none, ~everywhere, pa.nulls(count, PMF_TYPE))
    found = assign(times, {}, [Rule(1, shape=Normal(Fraction(sigma), CUT))], unit)
    return found.lower, found.upper, found.pmf


def _histograms(starts: Numbers, lo: Ticks, hi: Ticks, mass: Numbers) -> pa.Array:
    """The masses of spans of several buckets, null for those of one."""
    several = np.diff(starts) > 1
    inside = np.repeat(several, np.diff(starts))
    sizes = np.where(several, np.diff(starts), 0)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    lo, hi, mass = lo[inside], hi[inside], mass[inside]
    begins = np.zeros(len(lo) + 1, np.bool_)
    begins[offsets] = True
    if np.any((lo[1:] <= hi[:-1]) & ~begins[1:-1]):
        pieces = [
            apart(lo[a:b].tolist(), hi[a:b].tolist(), mass[a:b].tolist()) if b > a else None
            for a, b in pairwise(offsets)
        ]
        return pa.array(pieces, PMF_TYPE)
    values = pa.StructArray.from_arrays(
        [pa.array(lo), pa.array(hi), pa.array(mass)], fields=list(PMF_TYPE.value_type)
    )
    places = pa.array(offsets.astype(np.int32))
    lists = pa.ListArray.from_arrays(places, values, type=PMF_TYPE)
    return pc.if_else(pa.array(several), lists, pa.scalar(None, PMF_TYPE))


def _filled(table: pa.Table, name: str, rows: Numbers, values: pa.Array) -> pa.Table:
    """A column with other values in some rows."""
    place = table.column_names.index(name)
    field = table.schema.field(place)
    kept = np.arange(len(table))
    kept[rows] = len(table) + np.arange(len(rows))
    both = pa.concat_arrays([table.column(name).combine_chunks().cast(field.type), values.cast(field.type)])
    return table.set_column(place, field, both.take(pa.array(kept)))


def _flat(table: pa.Table, name: str) -> pa.StructArray:
    return pc.list_flatten(table.column(name)).combine_chunks()


def _ticks(flat: pa.StructArray, field: str, unit: TimeUnit) -> Ticks:
    return np.asarray(_instants(flat, field, unit) // unit.counts)


def _instants(flat: pa.StructArray, field: str, unit: TimeUnit) -> Numbers:
    """Instants in the resolution of a tick; saturated, where they are beyond the ends of time."""
    micros = _numbers(flat, field)
    if unit.resolution == "us":
        return micros
    most = LATEST_TICK // _PER_MICROSECOND
    return np.clip(micros, -most - 1, most) * _PER_MICROSECOND + _numbers(flat, f"{field}_nanos")


def _numbers(flat: pa.StructArray, field: str) -> Numbers:
    return np.asarray(flat.field(field).to_numpy(zero_copy_only=False))
