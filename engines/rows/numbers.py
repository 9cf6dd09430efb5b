"""Rows as numbers until they are written: which events they bind, and when and how probably.

A match is found as row numbers of events, and stays that while rows are held and put in order; names, nested
lists and texts are made of it block by block.  A row takes 24 bytes so, and 4 for each event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch, events_in, signatures
from cepctl.engines.rows.kept import WHY_UNJUDGED, KeptRows
from cepctl.engines.rows.order import encoded_ids, joined_text
from cepctl.numeric.arrays import Indexes
from cepctl.plan.plan import CONFIDENCE_ERROR

MATCH = pa.field("match", pa.string())
"""The column of the signature as text, which stands before those of `RowMaker.schema`."""


@dataclass(frozen=True, eq=False)
class RowMaker:
    """Makes the columns of rows from the events that they bind.

    `names` are the ids of all events; `schema` is that of rows without the text of their signature;
    `returned` gives the columns of RETURN of some matches.
    """

    names: pa.Array
    schema: pa.Schema
    returned: Callable[[MatchBatch], Mapping[str, pa.Array]]

    @cached_property
    def encoded(self) -> pa.Array:
        """The ids as they stand in the text of a signature; `names` itself where both are the same."""
        return encoded_ids(self.names)

    @cached_property
    def longest_id(self) -> int:
        """Bytes of the longest id, as it stands in a text."""
        longest: int | None = pc.max(pc.binary_length(self.encoded)).as_py()
        return longest or 0


@dataclass(frozen=True)
class NumberedRows:
    """Rows of one maker as numbers; `computed` are the columns that were made when rows were found.

    `why_unjudged`: why some were not held to raw times; empty if that is not known.
    """

    maker: RowMaker
    matches: MatchBatch
    computed: Mapping[str, pa.Array] = field(default_factory=dict)
    why_unjudged: str = ""

    @property
    def num_rows(self) -> int:
        """How many rows."""
        return len(self.matches)

    @property
    def nbytes(self) -> int:
        """Bytes that the rows take while they are held."""
        bound = sum(_size(each) for each in self.matches.bound)
        errors = 8 * self.num_rows if self.matches.error is not None else 0
        computed = sum(int(each.nbytes) for each in self.computed.values())
        return 24 * self.num_rows + bound + errors + computed

    @property
    def longest_text(self) -> int:
        """Bytes that the text of a row has at most, roughly."""
        sizes = (
            int(each.sizes.max(initial=0)) if isinstance(each, Group) else 1 for each in self.matches.bound
        )
        return sum(sizes) * (self.maker.longest_id + 1)

    def kept(self, wanted: KeptRows) -> NumberedRows:
        """Those that are kept."""
        kept = wanted.among(self.matches)
        return self if kept.all() else self.take(np.flatnonzero(kept))

    def take(self, rows: Indexes) -> NumberedRows:
        """Some of the rows, in this order."""
        chosen = pa.array(rows)
        computed = {name: each.take(chosen) for name, each in self.computed.items()}
        return replace(self, matches=self.matches.take(rows), computed=computed)

    @cached_property
    def facts(self) -> pa.RecordBatch:
        """What a summary counts of the rows: all columns that no events are asked for."""
        columns = {**self._times(), **self.computed}
        names = [name for name in self.maker.schema.names if name in columns]
        schema = pa.schema([self.maker.schema.field(name) for name in names], self._metadata)
        return pa.RecordBatch.from_arrays([columns[name] for name in names], schema=schema)

    def batch(self) -> pa.RecordBatch:
        """The rows with their nested lists, and without text."""
        schema = self.maker.schema.with_metadata(self._metadata)
        columns = {"signature": signatures(self._bound, self.maker.names), **self._columns()}
        return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)

    def table(self, *, nested: bool = True) -> pa.Table:
        """The rows with the text of their signature; `nested`: also as nested lists."""
        maker, schema = self.maker, self.maker.schema
        columns = self._columns()
        if nested or maker.encoded is maker.names:
            columns["signature"] = signatures(self._bound, maker.names)
        encoded = (
            columns["signature"] if maker.encoded is maker.names else signatures(self._bound, maker.encoded)
        )
        columns[MATCH.name] = joined_text(encoded)
        fields = [MATCH, *(each for each in schema if nested or each.name != "signature")]
        arrays = [columns[each.name] for each in fields]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    @property
    def _metadata(self) -> dict[bytes, str] | None:
        return {WHY_UNJUDGED: self.why_unjudged} if self.why_unjudged else None

    @property
    def _bound(self) -> tuple[Bindings, ...]:
        """What is bound, as numbers of 64 bits again."""
        return tuple(_widened(each) for each in self.matches.bound)

    def _columns(self) -> dict[str, pa.Array]:
        wide = replace(self.matches, bound=self._bound)
        return {**self._times(), **self.maker.returned(wide), **self.computed}

    def _times(self) -> dict[str, pa.Array]:
        matches, schema = self.matches, self.maker.schema
        columns = {"start": matches.start, "end": matches.end, "confidence": matches.confidence}
        if CONFIDENCE_ERROR in schema.names:
            columns[CONFIDENCE_ERROR] = matches.errors
        return {name: pa.array(each) for name, each in columns.items()}


FoundBatch: TypeAlias = pa.RecordBatch | NumberedRows
"""Rows as they are found: with the columns of the output, or as numbers."""


def with_columns(rows: FoundBatch) -> pa.RecordBatch:
    """Rows as they are found, with the columns of the output but for the text of their signatures."""
    return rows.batch() if isinstance(rows, NumberedRows) else rows


def facts_of(rows: FoundBatch) -> pa.RecordBatch:
    """What a summary counts of rows as they are found."""
    return rows.facts if isinstance(rows, NumberedRows) else rows


class HeldRows:
    """Rows of one maker as they are found, column by column, so that joining them holds no column twice."""

    def __init__(self, maker: RowMaker) -> None:
        self.maker = maker
        self.num_rows = 0
        self._bound: list[_Joined] = []
        self._start, self._end, self._confidence, self._error = (_ArrayParts() for _ in range(4))
        self._computed: dict[str, list[pa.Array]] = {}

    def add(self, rows: NumberedRows) -> None:
        """Take rows in."""
        matches = rows.matches
        if not self.num_rows:
            self._bound = [_Joined(isinstance(each, Group)) for each in matches.bound]
        for joined, bound in zip(self._bound, matches.bound, strict=True):
            joined.add(bound)
        self._start.add(matches.start)
        self._end.add(matches.end)
        self._confidence.add(matches.confidence)
        if CONFIDENCE_ERROR in self.maker.schema.names:
            self._error.add(matches.errors)
        for name, column in rows.computed.items():
            self._computed.setdefault(name, []).append(column)
        self.num_rows += rows.num_rows

    def whole(self) -> NumberedRows:
        """All rows that were taken in."""
        error = self._error.whole() if CONFIDENCE_ERROR in self.maker.schema.names else None
        matches = MatchBatch(
            tuple(each.whole() for each in self._bound),
            *(self._start.whole(), self._end.whole(), self._confidence.whole(), error),
        )
        for name, parts in self._computed.items():
            self._computed[name] = [pa.concat_arrays(parts)]
        return NumberedRows(self.maker, matches, {name: parts[0] for name, parts in self._computed.items()})


class _ArrayParts:
    """Parts of an array; it is joined in place of them."""

    def __init__(self) -> None:
        self._parts: list[Any] = []

    def add(self, part: Any) -> None:
        self._parts.append(part)

    def whole(self) -> Any:
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]


class _Joined:
    """What one component binds in all rows, in numbers of 32 bits."""

    def __init__(self, is_group: bool) -> None:
        self._events = _ArrayParts()
        self._sizes = _ArrayParts() if is_group else None

    def add(self, bound: Bindings) -> None:
        self._events.add(events_in(bound).astype(np.int32))
        if self._sizes is not None and isinstance(bound, Group):
            self._sizes.add(bound.sizes.astype(np.int32))

    def whole(self) -> Bindings:
        if self._sizes is None:
            events: Indexes = self._events.whole()
            return events
        offsets = np.concatenate([[0], np.cumsum(self._sizes.whole(), dtype=np.int64)])
        return Group(offsets, self._events.whole())


def _widened(bound: Bindings) -> Bindings:
    if isinstance(bound, Group):
        return Group(bound.offsets, bound.members.astype(np.int64))
    return bound.astype(np.int64)


def _size(bound: Bindings) -> int:
    """Bytes of what a component binds, while it is held."""
    return 4 * (len(bound.members) + len(bound.offsets)) if isinstance(bound, Group) else 4 * len(bound)
