"""Parts of a sketch that is there already, on their way into another one."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from cepctl.sketches.manifest import SPANS, TYPES, VALUES
from cepctl.sketches.places import SPAN_SCHEMA, VALUE_SCHEMA, Indexed, PartPlaces, type_schema
from cepctl.sketches.reading import OF_TYPES, Sketch


def parts_of_sketch(sketch: Sketch, indexed: Indexed) -> Iterator[PartPlaces]:
    """What a sketch keeps of each part of its datasets, with some of its attributes alone."""
    known = sketch.manifest.indexed.values
    parts = [part for dataset in sketch.manifest.datasets for part in dataset.parts]
    schema = type_schema(indexed.ranges)
    for number, part in enumerate(parts):
        types = _joined(sketch, TYPES, number, OF_TYPES, type_schema(sketch.manifest.indexed.ranges))
        yield PartPlaces(
            _joined(sketch, SPANS, number, OF_TYPES, SPAN_SCHEMA),
            types.select(schema.names),
            tuple(
                _joined(sketch, VALUES, number, known.index(name), VALUE_SCHEMA) for name in indexed.values
            ),
            part.lasting,
        )


def _joined(sketch: Sketch, name: str, part: int, listed: int, schema: pa.Schema) -> pa.Table:
    tables = [
        sketch.block(name, number)
        for number, block in enumerate(sketch.manifest.files[name].blocks)
        if block.part == part and block.listed == listed
    ]
    return pa.concat_tables(
        [schema.empty_table(), *(table.cast(schema) for table in tables)]
    ).combine_chunks()
