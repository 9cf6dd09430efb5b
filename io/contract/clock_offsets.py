"""Intervals of events of clocks: with the offset of their clock and without, and in another time unit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.shared import Clocks, extremes, offset_text, parse_offset, rescaled_offset
from cepctl.errors import EventSchemaError
from cepctl.event_table import PMF_TYPE
from cepctl.io.contract.rescaling import rescaled
from cepctl.schema import CLOCK, CLOCK_OFFSET, END_PMF, TimeUnit

Numbers = npt.NDArray[np.int64]
_ENDS = (("lower", 0), ("upper", 1), ("end_lower", 0), ("end_upper", 1))


def offset_ends(offsets: pa.Array | pa.ChunkedArray) -> tuple[Numbers, Numbers]:
    """First and last tick of offsets written as text, 0 where there is none; shape (n,) each."""
    encoded = pc.dictionary_encode(offsets)
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    found = [extremes(_offset(text)) for text in encoded.dictionary.to_pylist()]
    ends = np.array([*found, (0, 0)], dtype=np.int64).reshape(-1, 2)
    place = pc.fill_null(encoded.indices, len(found)).to_numpy()
    return ends[place, 0], ends[place, 1]


def _offset(text: str) -> tuple[tuple[int, int, float], ...]:
    offset = parse_offset(text)
    if offset is None:
        raise EventSchemaError(f"'{text}' is not an offset lo:hi:p|lo:hi:p whose p sum to 1")
    return offset


def shifted_by_offsets(table: pa.Table, offsets: pa.ChunkedArray, *, away: bool) -> pa.Table:
    """Intervals widened by the extremes of the offsets, or these taken `away`; nulls stay."""
    ends = offset_ends(offsets)
    sign = -1 if away else 1
    for name, side in _ENDS:
        if name in table.column_names and table.column(name).null_count < len(table):
            moved = pc.add(table.column(name), pa.array(sign * ends[side]))
            table = table.set_column(table.column_names.index(name), table.schema.field(name), moved)
    return table


def shifted(table: pa.Table, ticks: Numbers) -> pa.Table:
    """Intervals and masses moved by so many ticks each, shape (n,); nulls stay."""
    if not ticks.any():
        return table
    for name, _ in _ENDS:
        if name in table.column_names:
            moved = pc.add(table.column(name), pa.array(ticks))
            table = table.set_column(table.column_names.index(name), table.schema.field(name), moved)
    for name in ("pmf", END_PMF):
        if name in table.column_names and table.column(name).null_count < len(table):
            column = table.column(name).combine_chunks()
            moved = _moved_masses(column, ticks)
            table = table.set_column(table.column_names.index(name), table.schema.field(name), moved)
    return table


def _moved_masses(masses: pa.ListArray, ticks: Numbers) -> pa.ListArray:
    lengths = pc.fill_null(pc.list_value_length(masses), 0).to_numpy()
    flat, by = masses.flatten(), pa.array(np.repeat(ticks, lengths))
    ends = [pc.add(flat.field(side), by) for side in ("lo", "hi")]
    values = pa.StructArray.from_arrays([*ends, flat.field("p")], fields=list(PMF_TYPE.value_type))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    null = pc.is_null(masses)
    return pa.ListArray.from_arrays(pa.array(offsets), values, type=PMF_TYPE, mask=null)


def rescaled_with_clocks(table: pa.Table, old: TimeUnit, new: TimeUnit, column: str) -> pa.Table:
    """As `rescaled`; own parts and offsets, the texts in `column`, each become all ticks that they cover."""
    if old == new or column not in table.column_names or table.column(column).null_count == len(table):
        return rescaled(table, old, new)
    own = rescaled(shifted_by_offsets(table, table.column(column), away=True), old, new)
    encoded = own.column(column).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    texts = [offset_text(rescaled_offset(_offset(text), old, new)) for text in encoded.dictionary.to_pylist()]
    values = pa.DictionaryArray.from_arrays(encoded.indices, pa.array(texts, pa.string()))
    field = own.schema.field(column)
    own = own.set_column(own.column_names.index(column), field, values.cast(field.type))
    return shifted_by_offsets(own, own.column(column), away=False)


def rescaled_of_clocks(table: pa.Table, old: TimeUnit, new: TimeUnit, clocks: Clocks) -> pa.Table:
    """As `rescaled`, of events that may name the clocks given, whose offsets are in the old unit."""
    if old == new or CLOCK not in table.column_names:
        return rescaled(table, old, new)
    texts = [offset_text(offset) for offset in clocks.values()]
    places = pc.index_in(table.column(CLOCK), pa.array(list(clocks), pa.string()))
    with_offsets = table.append_column(CLOCK_OFFSET, pa.array(texts, pa.string()).take(places))
    return rescaled_with_clocks(with_offsets, old, new, CLOCK_OFFSET).drop_columns([CLOCK_OFFSET])
