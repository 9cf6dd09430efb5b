"""The columns that an inspection looks at, of all events, as one frame.

column                     meaning
event_id, event_type,      as in the event table
  source
lower, upper               the interval that the event has now, ticks
time                       the time of the log since the epoch, in the resolution of the time unit; null
                           where it gave none
zone                       offset from UTC of the zone in which it was written, counted alike
node, task_id, case_id,    attributes, null where the dataset has none; as text
  attempt_id, status
value                      attribute, as a number; null where it is none
"""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.matching.inputs import EventInputs
from cepctl.schema import TimeUnit

_PER_SECOND = 1_000_000
_ZONE = "zone_seconds"
_TEXTS = ("node", "task_id", "case_id", "attempt_id", "status")
_NUMBER = "value"


def observed_attributes(inputs: EventInputs) -> list[str]:
    """The attributes that an inspection reads, of those that there are."""
    known = inputs.schema.attributes
    return [name for name in (_ZONE, *_TEXTS, _NUMBER) if name in known]


def observed_events(inputs: EventInputs) -> pl.DataFrame:
    """All events of the inputs, with the columns that the module lists, by (lower, event_id)."""
    table = inputs.read(observed_attributes(inputs))
    columns = [pl.from_arrow(table.column(name)) for name in ("event_id", "event_type", "source")]
    columns += [pl.from_arrow(table.column(name)) for name in ("lower", "upper")]
    columns += [
        pl.from_arrow(table.column("time").cast(pa.int64())),
        pl.from_arrow(_zone(table, inputs.schema.time_unit)),
    ]
    columns += [pl.from_arrow(_text(table, name)) for name in _TEXTS]
    columns.append(pl.from_arrow(_number(table)))
    names = ["event_id", "event_type", "source", "lower", "upper", "time", "zone", *_TEXTS, _NUMBER]
    return pl.DataFrame(dict(zip(names, columns, strict=True)))


def _zone(table: pa.Table, unit: TimeUnit) -> pa.ChunkedArray:
    if _ZONE in table.column_names and pa.types.is_integer(table.schema.field(_ZONE).type):
        return pc.multiply(pc.fill_null(table.column(_ZONE), 0), _PER_SECOND * unit.per_microsecond)
    return pa.chunked_array([pa.repeat(pa.scalar(0, pa.int64()), len(table))])


def _text(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name in table.column_names:
        return table.column(name).cast(pa.string())
    return pa.chunked_array([pa.nulls(len(table), pa.string())])


def _number(table: pa.Table) -> pa.ChunkedArray:
    if _NUMBER in table.column_names:
        kind = table.schema.field(_NUMBER).type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return table.column(_NUMBER).cast(pa.float64(), safe=False)
    return pa.chunked_array([pa.nulls(len(table), pa.float64())])
