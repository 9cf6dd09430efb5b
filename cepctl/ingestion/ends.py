"""Ends of interval events: the rule that gives a start its interval is applied to the end's own time.

A histogram belongs to the start alone; the mass of an end is uniform over its interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.event_table import PMF_TYPE
from cepctl.ingestion.chunks import (
    RAW_END_AFTER,
    RAW_END_BEFORE,
    RAW_END_TIME,
    RAW_END_ZONE,
    has_column,
    has_ends,
)
from cepctl.io.contract.reader import END_FOLD
from cepctl.numeric.arrays import Numbers
from cepctl.schema import END_PMF, LENGTH_LOWER, LENGTH_UPPER, TimeUnit
from cepctl.uncertainty.assign import RawTimes, assign, fitted
from cepctl.uncertainty.model import Rule
from cepctl.uncertainty.shapes import Granularity
from cepctl.uncertainty.stamping import LookUp, nanoseconds_of

# Notes for the report, each completed with a number.
_ENDED_FIRST = "interval events whose end is logged before their start: {:,}"
_UNIFORM = "interval events whose rule is a histogram, which only the start has; the end is uniform: {:,}"


def with_ends(
    table: pa.Table,
    conditions: Mapping[str, pa.ChunkedArray],
    rules: Sequence[Rule],
    unit: TimeUnit,
    default: Granularity | None = None,
) -> pa.Table:
    """Fill `end_lower` and `end_upper` of the events whose end has a time.

    `table`: a chunk; an end without a time keeps the interval that it brought.  `conditions`, `rules`,
    `unit`, `default`: as `cepctl.uncertainty.assign.assign` takes them for the starts.
    """
    if not has_ends(table):
        return table
    rows = pc.is_valid(table.column(RAW_END_TIME))
    ended = table.filter(rows)
    count = len(ended)
    times = RawTimes(
        instants=_numbers(ended, RAW_END_TIME),
        known=np.ones(count, np.bool_),
        zone_seconds=_numbers(ended, RAW_END_ZONE),
        before=_numbers(ended, RAW_END_BEFORE),
        after=_numbers(ended, RAW_END_AFTER),
        lower=_numbers(ended, "end_lower"),
        upper=_numbers(ended, "end_upper"),
        given=pc.is_valid(ended.column("end_lower")).to_numpy(),
        pmf=pa.nulls(count, PMF_TYPE),
        readings=_readings(ended),
        fold=_numbers(ended, END_FOLD) if has_column(ended, END_FOLD) else None,
    )
    selected = {name: column.filter(rows) for name, column in conditions.items()}
    assigned = assign(times, selected, [_of_end(rule) for rule in rules], unit, default)
    for name, ticks in (("end_lower", assigned.lower), ("end_upper", assigned.upper)):
        column = table.column(name).combine_chunks()
        filled = pc.replace_with_mask(column, rows.combine_chunks(), pa.array(ticks))
        if has_column(table, END_PMF):
            # A histogram is that of the interval which it came with.
            moved = pc.fill_null(pc.not_equal(filled, column), True)
            kept = pc.if_else(moved, pa.scalar(None, PMF_TYPE), table.column(END_PMF).combine_chunks())
            table = table.set_column(table.column_names.index(END_PMF), END_PMF, kept)
        table = table.set_column(table.column_names.index(name), table.schema.field(name), filled)
    if times.fold is not None:
        table = _with_masses(table, rows, assigned.pmf)
    if any(rule.length for rule in rules):
        table = _with_lengths(table, ended, selected, rules, unit, rows)
    return table


def _with_masses(table: pa.Table, rows: pa.ChunkedArray, masses: pa.Array) -> pa.Table:
    """With those masses of ends, which are `rows` of the table, that are not null."""
    known = table.column(END_PMF) if has_column(table, END_PMF) else pa.nulls(len(table), PMF_TYPE)
    place = pc.subtract(pc.cumulative_sum(rows.combine_chunks().cast(pa.int64())), 1)
    own = masses.take(pc.if_else(rows.combine_chunks(), place, pa.scalar(None, pa.int64())))
    table = table.drop_columns([END_PMF]) if has_column(table, END_PMF) else table
    return table.append_column(END_PMF, pc.coalesce(own, known))


def _of_end(rule: Rule) -> Rule:
    """What a rule says of an end: its `end`, or else what it says of the start."""
    return rule if rule.end is None else replace(rule, interval=rule.end, shape=None)


def _with_lengths(
    table: pa.Table,
    ended: pa.Table,
    selected: Mapping[str, pa.ChunkedArray],
    rules: Sequence[Rule],
    unit: TimeUnit,
    rows: pa.ChunkedArray,
) -> pa.Table:
    """The logged lengths of the `ended` events, which are `rows` of the table, widened to bounds."""
    logged = _numbers(ended, RAW_END_TIME) - _numbers(ended, "time")
    known = pc.is_valid(ended.column("time")).to_numpy()
    won, _ = fitted(rules, LookUp(selected, nanoseconds_of(_readings(ended), unit)), known)
    for name, sign in ((LENGTH_LOWER, 1), (LENGTH_UPPER, -1)):
        bounds = np.zeros(len(ended), dtype=np.int64)
        bounded = np.zeros(len(ended), dtype=np.bool_)
        for rule, fits in zip(rules, won, strict=True):
            if rule.length is not None:
                by = rule.length.before if sign > 0 else rule.length.after
                # Outwards to whole ticks: down for the least length, up for the greatest.
                ticks = sign * ((sign * logged - ceil(by * unit.per_microsecond)) // unit.counts)
                bounds, bounded = np.where(fits, ticks, bounds), bounded | fits
        column = (
            table.column(name).combine_chunks()
            if has_column(table, name)
            else pa.nulls(len(table), pa.int64())
        )
        own = column.filter(rows.combine_chunks())
        chosen = pc.if_else(pa.array(bounded), pa.array(np.maximum(bounds, 0)), own)
        filled = pc.replace_with_mask(column, rows.combine_chunks(), chosen)
        table = table.drop_columns([name]) if has_column(table, name) else table
        table = table.append_column(name, filled)
    return table


def end_notes(table: pa.Table) -> Counter[str]:
    """What is to be said of the ends in a chunk with intervals, with how many events it concerns."""
    if not has_ends(table):
        return Counter()
    ends = table.column(RAW_END_TIME)
    ended_first = pc.sum(pc.less(ends, table.column("time"))).as_py()
    uniform = pc.sum(pc.and_(pc.is_valid(ends), pc.is_valid(table.column("pmf")))).as_py()
    return Counter({_ENDED_FIRST: ended_first or 0, _UNIFORM: uniform or 0})


def _readings(table: pa.Table) -> Numbers:
    """The times of starts, which alone decide what a record of the clock says; none is before all records."""
    times = pc.fill_null(table.column("time").cast(pa.int64()), np.iinfo(np.int64).min)
    return np.asarray(times.to_numpy(), dtype=np.int64)


def _numbers(table: pa.Table, column: str) -> Numbers:
    values = pc.fill_null(table.column(column).cast(pa.int64()), 0)
    return np.asarray(values.to_numpy(), dtype=np.int64)
