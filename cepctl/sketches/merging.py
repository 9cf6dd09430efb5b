"""Parts of a sketch that is there already, on their way into another one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.sketches.listing import ALL_OF_TYPE, Indexed, above, below, listed_schema
from cepctl.sketches.places import PartPlaces
from cepctl.sketches.reading import Sketch
from cepctl.sketches.sections import parted, runs


def parts_of_sketch(sketch: Sketch, indexed: Indexed) -> Iterator[PartPlaces]:
    """What a sketch keeps of each part of its datasets, with some of its attributes alone."""
    known = sketch.manifest.indexed
    chosen = [known.values.index(name) for name in indexed.values]
    before = 0
    for number, count in enumerate(sketch.manifest.sections):
        parts = sketch.manifest.parts[before : before + count]
        before += count
        told = [(part.spans, part.row_groups, part.lasting) for part in parts]
        for part in parted(sketch.section(number), told):
            yield _with_lists_of(
                replace(part, values=tuple(part.values[at] for at in chosen)), known, indexed
            )


def _with_lists_of(part: PartPlaces, known: Indexed, indexed: Indexed) -> PartPlaces:
    """The part with the lists of some attributes alone, by their new numbers."""
    renamed = {ALL_OF_TYPE: ALL_OF_TYPE}
    for number, name in enumerate(indexed.ranges):
        old = known.ranges.index(name)
        renamed |= {below(old): below(number), above(old): above(number)}
    which = part.lists.column("which").to_numpy()
    rows = part.lists.column("rows").to_numpy()
    own = np.isin(which, list(renamed))
    lists = part.lists.filter(pa.array(own))
    numbers = np.array([renamed[each] for each in lists.column("which").to_pylist()], dtype=np.int32)
    lists = lists.set_column(lists.column_names.index("which"), "which", pa.array(numbers))
    listed = part.listed.filter(pa.array(np.repeat(own, rows))).select(listed_schema(indexed).names)
    if known.ranges == indexed.ranges:
        return replace(part, lists=lists, listed=listed)
    return replace(part, **_in_order(lists, listed))


def _in_order(lists: pa.Table, listed: pa.Table) -> dict[str, pa.Table]:
    """Lists whose numbers have changed, in the order of these."""
    order = pc.sort_indices(lists, [("type", "ascending"), ("which", "ascending")]).to_numpy()
    rows = lists.column("rows").to_numpy().astype(np.int64)
    begins = np.cumsum(rows) - rows
    return {
        "lists": lists.take(pa.array(order)),
        "listed": listed.take(pa.array(runs(begins[order], rows[order]))),
    }
