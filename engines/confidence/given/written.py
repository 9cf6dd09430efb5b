"""The order in which a writer wrote its records, as differences between each record and the next.

That every record comes after all those before it is said by neighbours alone.  So a log of any length has
as many differences as records, where a join of all pairs would have the square of what a second holds.
Events of one record are not ordered; of what lasts the starts are, or the ends, as the name of its writer
says.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.events import Events
from cepctl.schema import NAMES_OF_ENDS, RECORD, WRITER


def next_records(
    events: Events, along: str = RECORD, possible: Flags | None = None
) -> tuple[Indexes, Indexes]:
    """Pairs of events, the second of which is of the record that its writer wrote after that of the first.

    `along`: the column that tells the order of records.  `possible`: which events can happen, shape (n,),
    None for all; the others are passed over.

    >>> from cepctl.engines.columns.events import events_of
    >>> import pyarrow as pa
    >>> told = {"event_id": ["a", "b", "c", "d"], "event_type": ["A"] * 4, "lower": [0] * 4, "upper": [9] * 4}
    >>> told |= {"pmf": pa.nulls(4), "writer": ["w", "w", None, "w"], "record": [2, 1, 3, 2]}
    >>> [each.tolist() for each in next_records(events_of(pa.table(told), {}))]
    [[1, 1], [0, 3]]
    """
    writer = events.codes_of(WRITER)
    record = events.frame.get_column(along)
    known = (writer >= 0) & record.is_not_null().to_numpy()
    rows = np.flatnonzero(known if possible is None else known & possible)
    numbers = record.gather(rows).to_numpy()
    order = np.lexsort((numbers, writer[rows]))
    rows, numbers = rows[order], numbers[order]
    codes = writer[rows]
    anew = np.ones(len(rows), dtype=bool)
    anew[1:] = (codes[1:] != codes[:-1]) | (numbers[1:] != numbers[:-1])
    begins = np.flatnonzero(anew)
    sizes = np.diff(np.append(begins, len(rows)))
    follows = np.flatnonzero(codes[begins[1:]] == codes[begins[:-1]])
    pairs = sizes[follows] * sizes[follows + 1]
    group = np.repeat(follows, pairs)
    place = np.arange(len(group)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    before = begins[group] + place // sizes[group + 1]
    after = begins[group + 1] + place % sizes[group + 1]
    return rows[before], rows[after]


def written_as_they_end(events: Events) -> Flags:
    """Which events have a writer that writes records as what they tell of ends, shape (n,)."""
    names = events.frame.get_column(WRITER).cast(pl.String)
    return names.str.contains(NAMES_OF_ENDS).fill_null(value=False).to_numpy()
