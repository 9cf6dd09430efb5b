"""A column of a batch of which some events have a value, filled some values at a time.

Values become Arrow while they are still in the processor's cache: a batch is larger than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.natural_columns import Value, array_of, mixture_of
from cepctl.numeric.arrays import Indexes
from cepctl.schema import TICK_MAX, TICK_MIN

_NONE = type(None)


class SparseColumn:
    """One attribute; its type follows from all its values, as in natural_columns.py."""

    def __init__(self) -> None:
        self._count = 0
        self._kinds: set[type] = set()
        self._chunks: list[pa.Array | list[Value]] = []
        self._events: list[Indexes] = []
        self._rows: list[Indexes] = []

    def add(self, values: Sequence[Value], events: Indexes, rows: Indexes) -> None:
        """Values, and which events have which of them."""
        kinds = set(map(type, values))
        self._chunks.append(_chunk(values, kinds))
        self._events.append(events)
        self._rows.append(rows + self._count)
        self._kinds |= kinds
        self._count += len(values)

    def array(self, count: int) -> tuple[pa.Array, str | None]:
        """The column of so many events, and the kinds of values that are mixed in it."""
        dense, mixed = self._dense()
        places = np.full(count, -1)
        places[np.concatenate(self._events)] = np.concatenate(self._rows)
        return dense.take(pa.array(places, mask=places < 0)), mixed

    def _dense(self) -> tuple[pa.Array, str | None]:
        kinds = self._kinds - {_NONE}
        if kinds == {str}:
            texts = (c if isinstance(c, pa.Array) else array_of(c, {str}) for c in self._chunks)
            return pa.concat_arrays(texts), None
        if kinds == {int} and (numbers := self._numbers()) is not None:
            return numbers, None
        values: list[Value] = list(
            chain.from_iterable(c.to_pylist() if isinstance(c, pa.Array) else c for c in self._chunks)
        )
        dense = array_of(values, self._kinds)
        return dense, mixture_of(values, dense, self._kinds)

    def _numbers(self) -> pa.Array | None:
        """Integers; None where they are beyond ticks."""
        arrays = []
        for chunk in self._chunks:
            if not isinstance(chunk, pa.Array) and any(value is not None for value in chunk):
                return None
            arrays.append(chunk if isinstance(chunk, pa.Array) else pa.nulls(len(chunk), pa.int64()))
        numbers = pa.concat_arrays(arrays)
        ends = pc.min_max(numbers)
        within = ends["min"].as_py() >= TICK_MIN and ends["max"].as_py() <= TICK_MAX
        return numbers if within else None


def _chunk(values: Sequence[Value], kinds: set[type]) -> pa.Array | list[Value]:
    """The values as Arrow where that keeps all of them as they are, else as they are."""
    known = kinds - {_NONE}
    try:
        if known == {str}:
            return pa.array(values, pa.string())
        if known == {int}:
            return pa.array(values, pa.int64())
    except (UnicodeEncodeError, OverflowError):
        pass
    return list(values)
