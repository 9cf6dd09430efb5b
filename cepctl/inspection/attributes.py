"""The attributes of the inputs, counted from the statistics of their Parquet files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pyarrow.parquet as pq

from cepctl.matching.inputs import EventInputs
from cepctl.schema import FIXED_COLUMNS


@dataclass(frozen=True)
class AttributeColumn:
    """One attribute: its type, and how many events have a value."""

    name: str
    type: str
    values: int


def attribute_columns(inputs: EventInputs) -> tuple[AttributeColumn, ...]:
    """The attributes in code-point order of their names; reads the footers of the files only."""
    counts: Counter[str] = Counter()
    for dataset in inputs.datasets:
        filesystem, _ = dataset.location.resolve()
        for part in dataset.parts:
            metadata = pq.read_metadata(part, filesystem=filesystem)
            for group in map(metadata.row_group, range(metadata.num_row_groups)):
                for column in map(group.column, range(group.num_columns)):
                    # A row group without rows has no statistics.
                    if column.path_in_schema in inputs.schema.attributes and column.num_values:
                        counts[column.path_in_schema] += column.num_values - column.statistics.null_count
    return tuple(
        AttributeColumn(name, str(kind), counts[name])
        for name, kind in inputs.schema.attributes.items()
        if name not in FIXED_COLUMNS
    )
