"""The rows of a chunk as their writers wrote them: in ticks that have room for all, and who wrote each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.event_table import PMF_TYPE
from cepctl.ingestion.chunks import ERA, RAW_ALONG, RAW_WRITER, has_column
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.schema import ALONG, RECORD, WRITER, TimeUnit


@dataclass(frozen=True)
class WrittenRows:
    """What becomes of the rows of a chunk.

    Its ticks become so many times `finer`, then of `unit`; the rows `exact` share their one tick with others,
    and cover it.  `steps`: along what each writer begins anew, ascending; None where its order is not known.
    """

    finer: int
    unit: TimeUnit
    exact: Flags
    steps: Mapping[str, Indexes] | None = field(default_factory=dict)

    def applied(self, table: pa.Table, start: int) -> pa.Table:
        """Some rows of the chunk, the first of which is the row `start`, with these columns."""
        if self.finer > 1:
            table = _in_unit(table, self.finer, self.unit, self.exact[start : start + len(table)])
        along = table.column(RAW_ALONG if has_column(table, RAW_ALONG) else RECORD)
        table = table.append_column(ALONG, along)
        return table.append_column(WRITER, self._writers(table, along))

    def _writers(self, table: pa.Table, along: pa.ChunkedArray) -> pa.Array:
        if self.steps is None or not has_column(table, RAW_WRITER):
            return pa.nulls(len(table), pa.string())
        names = table.column(RAW_WRITER).unify_dictionaries().combine_chunks()
        texts = names.dictionary.to_pylist() if len(names) else []
        if not self.steps.keys() & set(texts):
            return names.cast(pa.string())
        code = pc.fill_null(names.indices, -1).to_numpy(zero_copy_only=False)
        return names_of_eras(texts, code, pc.fill_null(along, 0).to_numpy(), self.steps)


def names_of_eras(
    texts: Sequence[str],
    code: Indexes,
    along: Indexes,
    steps: Mapping[str, Indexes],
    earlier: Mapping[str, int] | None = None,
) -> pa.Array:
    """The writer of each of n events, with how often it has begun.

    `texts`: the names of writers, of which `code` has the place for each event, shape (n,), -1 for none.
    `steps`: where each begins anew, ascending; `earlier`: how often it did before all of these, 0 without it.
    """
    era = np.zeros(len(code), np.int64)
    for number, text in enumerate(texts):
        if text in steps:
            own = np.flatnonzero(code == number)
            era[own] = np.searchsorted(steps[text], along[own], side="right") + (earlier or {}).get(text, 0)
    eras, back = np.unique(np.stack([code, era]), axis=1, return_inverse=True)
    names = [_name_of_era(texts[number], count) if number >= 0 else None for number, count in eras.T.tolist()]
    return pa.array(names, pa.string()).take(pa.array(back.ravel()))


def _name_of_era(name: str, era: int) -> str:
    return name + ERA.format(era + 1) if era else name


def _in_unit(table: pa.Table, finer: int, unit: TimeUnit, exact: Flags) -> pa.Table:
    """Rows in finer ticks: what is known to a tick stays so, unless another record shares its stamp."""
    lower, upper = (table.column(name).to_numpy() for name in ("lower", "upper"))
    columns = {
        "lower": pa.array(lower * finer),
        "upper": pa.array(upper * finer + np.where((upper > lower) | exact, finer - 1, 0)),
        "pmf": _finer_masses(table.column("pmf").combine_chunks(), finer),
        "time": table.column("time").cast(pa.timestamp(unit.resolution, tz="UTC")),
    }
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, values)
    return table


def _finer_masses(masses: pa.ListArray, finer: int) -> pa.Array:
    """Buckets in finer ticks, each of all that it covered."""
    if masses.null_count == len(masses):
        return masses
    lo, hi, p = masses.flatten().flatten()
    parts = [pc.multiply(lo, finer), pc.add(pc.multiply(hi, finer), finer - 1), p]
    lengths = pc.fill_null(pc.list_value_length(masses), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    buckets = pa.StructArray.from_arrays(parts, ["lo", "hi", "p"])
    return pa.ListArray.from_arrays(offsets, buckets, mask=masses.is_null()).cast(PMF_TYPE)
