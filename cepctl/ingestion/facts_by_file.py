"""Facts of the attributes of several files whose events lie in one table, each file for itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.datasets.kinds import Kind, beyond_floats, is_inferred, kinds_in_text, kinds_of
from cepctl.ingestion.chunks import AttributeFacts, bytes_of_values, is_attribute
from cepctl.numeric.arrays import Numbers


def facts_by_file(table: pa.Table, bounds: Numbers) -> list[dict[str, AttributeFacts]]:
    """As `attribute_facts`, of the rows between each two bounds; of attributes that have values there."""
    found: list[dict[str, AttributeFacts]] = [{} for _ in bounds[1:]]
    for field, column in zip(table.schema, table.columns, strict=True):
        if not is_attribute(field.name) or column.null_count == len(column):
            continue
        text = is_inferred(field)
        of_all = kinds_in_text(column) if text else kinds_of(field, column)
        large = bool(of_all & {Kind.INT, Kind.BIG}) and beyond_floats(column) > 0
        values = _valid_by_file(column, bounds)
        for place in np.flatnonzero(values).tolist():
            kinds, beyond = of_all, 0
            if large or len(of_all) > 1:
                own = column.slice(int(bounds[place]), int(bounds[place + 1] - bounds[place]))
                kinds = kinds_in_text(own) if text else of_all
                beyond = beyond_floats(own) if kinds & {Kind.INT, Kind.BIG} else 0
            found[place][field.name] = AttributeFacts(kinds, int(values[place]), text, beyond)
    return found


def _valid_by_file(column: pa.ChunkedArray, bounds: Numbers) -> Numbers:
    if not column.null_count:
        return np.asarray(np.diff(bounds))
    valid = pc.is_valid(column).to_numpy().astype(np.int64)
    return np.asarray(np.add.reduceat(valid, bounds[:-1]))


def bytes_by_file(table: pa.Table, bounds: Numbers) -> list[int]:
    """As `bytes_of_values`, of the rows between each two bounds."""
    total = np.zeros(len(bounds) - 1, np.int64)
    for column in table.columns:
        if pa.types.is_list(column.type):
            if column.null_count < len(column):
                return [
                    bytes_of_values(table.slice(start, stop - start))
                    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
                ]
        elif pa.types.is_string(column.type):
            lengths = pc.fill_null(pc.binary_length(column), 0).to_numpy().astype(np.int64)
            total += np.add.reduceat(lengths, bounds[:-1])
        else:
            total += 8 * _valid_by_file(column, bounds)
    return [int(each) for each in total]
