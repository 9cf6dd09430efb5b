"""Rows and columns of a table that a query cannot need, told before events are made, with their account.

That is done where each row brings its ticks, and nothing that is said elsewhere changes them: of a file that
no rule, writer or other name touches.  A block with a row that is no event, or that has more than a type, an
id, an interval and attributes, goes the way of all others; there it is told in which row something is wrong.

    what is known of a row          from
    its type, and whether needed   the block
    kinds of attributes            all rows of the block, also those that are needed
    its id                         a hash, as of those that are needed (needed.py)
    kind of a column not read      the file; where a row needs more, the file is read again
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.datasets.kinds import Kind, kinds_of_field, simple, simple_field, unified
from cepctl.ingestion.chunks import (
    NO_ATTRIBUTES,
    RAW_PREFIX,
    AttributeFacts,
    attribute_name,
    facts_of,
    joined_facts,
)
from cepctl.ingestion.needed import Judged, Needed, ToldIds, Unneeded, kind_in
from cepctl.ingestion.task import ReadTask
from cepctl.ingestion.writer_names import Writing
from cepctl.io.contract.batches import INFERRED
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.tabular.epoch_times import integers_of_texts
from cepctl.numeric.arrays import Flags, Numbers
from cepctl.schema import EARLIEST_TICK, LATEST_TICK, TimeUnit

_OF_EVENTS = ("event_type", "event_id", "lower", "upper")
_PLAIN_TYPES = frozenset(
    [
        *(pa.null(), pa.bool_(), pa.string(), pa.float32(), pa.float64()),
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()),
    ]
)
"""Types whose values have the same kind in every block."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """What is known of rows that never became events: as of events left behind, and what a chunk tells.

    `first` is the first tick of all; `ids_given`: whether they bring ids.
    """

    unneeded: Unneeded
    facts: Mapping[str, AttributeFacts]
    first: int
    ids_given: bool

    def with_others(self, more: Sifted) -> Sifted:
        """Those of two blocks."""
        return Sifted(
            self.unneeded.with_others(more.unneeded),
            joined_facts(self.facts, more.facts),
            min(self.first, more.first),
            self.ids_given or more.ids_given,
        )


class ColumnsLeftOutError(Exception):
    """Some columns of a file were not read, and all are needed, so the file is read again."""


@dataclass(frozen=True)
class _EventBlock:
    """A block of rows all of which are events: their types, ids, ticks and attributes."""

    types: pa.Array
    ids: pa.Array | None
    lower: pa.Array
    upper: pa.Array
    attributes: Mapping[str, pa.ChunkedArray]
    fields: Mapping[str, pa.Field]

    @property
    def table(self) -> pa.Table:
        """Its events as far as they are known."""
        ids = {} if self.ids is None else {"event_id": self.ids}
        ticks = {"lower": self.lower, "upper": self.upper}
        return pa.table({"event_type": self.types, **ids, **ticks, **self.attributes})

    def facts(self, rows: pa.Array | None = None) -> dict[str, AttributeFacts]:
        """Those of the attributes, of some rows or all."""
        return {
            name: facts_of(self.fields[name], column if rows is None else column.filter(rows))
            for name, column in self.attributes.items()
        }


@dataclass
class ChunkSieve:
    """Holds back rows that are not needed; what is known of those since the last chunk can be taken."""

    query: Needed
    unit: TimeUnit
    ids: ToldIds
    all_columns: bool = False
    kinds_unread: Mapping[str, frozenset[Kind]] = field(default_factory=dict, init=False)
    _left_out: frozenset[str] = field(default_factory=frozenset, init=False)
    _unread: Mapping[str, AttributeFacts] = field(default_factory=dict, init=False)
    _sifted: Sifted | None = field(default=None, init=False)
    _was_asked: bool = field(default=False, init=False)

    def take(self) -> Sifted | None:
        """What is known of the rows that were held back for the chunk that ends here."""
        sifted, self._sifted = self._sifted, None
        return sifted

    def take_unread(self) -> Mapping[str, AttributeFacts]:
        """The facts of attributes that are not read, once."""
        unread, self._unread = self._unread, {}
        return unread

    def leave_out(self, types: Mapping[str, pa.DataType], counts: Mapping[str, int]) -> frozenset[str]:
        """The columns that the query does not read, of those whose values are counted."""
        attributes = {name: attribute_name(name) for name in types if _is_plain_attribute(name)}
        fields = {name: pa.field(own, types[name]) for name, own in attributes.items()}
        if self.all_columns or len(set(attributes.values())) < len(attributes):
            return frozenset()
        kinds = {field.name: kind for field in fields.values() if (kind := _kind_of_all(field)) is not None}
        read = self.query.attributes(kinds, self.unit)
        if read is None:
            return frozenset()
        left_out = {
            name: attributes[name] for name in counts.keys() & attributes if attributes[name] not in read
        }
        self._left_out = frozenset(left_out)
        self.kinds_unread = {own: kinds_of_field(fields[name]) for name, own in left_out.items()}
        self._unread = {
            own: AttributeFacts(self.kinds_unread[own] if counts[name] else frozenset(), counts[name])
            for name, own in left_out.items()
        }
        return self._left_out

    @property
    def holds_some(self) -> bool:
        """Whether rows were held back since the last chunk."""
        return self._sifted is not None

    def passes(self, columns: Mapping[str, pa.Array]) -> None:
        """Take notice of a block all rows of which are to become events."""
        self._require_all_columns()
        self._follow_ids(columns)

    def _follow_ids(self, columns: Mapping[str, pa.Array]) -> None:
        self._was_asked, ids = True, columns.get("event_id")
        plain = ids is not None and pa.types.is_string(ids.type) and _are_texts(ids)
        self.ids.follow(ids if plain else None)

    def require_asked(self) -> None:
        """Let the ids of a file be kept otherwise where not all blocks of rows have come here."""
        if not self._was_asked:
            self._require_all_columns()
            self.ids.follow(None)
        self._was_asked = False

    def needed(self, columns: Mapping[str, pa.Array], *, inferred: bool) -> Flags | None:
        """Which rows of a block are to become events, shape (n,); None for all."""
        self._follow_ids(columns)
        block = _block(columns, inferred=inferred)
        if block is None:
            self._require_all_columns()
            return None
        facts = block.facts()
        kinds = {name: found for name, each in facts.items() if (found := kind_in(each)) is not None}
        judged = self.query.judged(block.table, kinds, self.unit, lasting=False)
        if judged is None:
            return None
        needed: Flags = pc.fill_null(judged.needed, True).to_numpy(zero_copy_only=False)
        if needed.all():
            return None
        sifted = _sifted(block, facts, needed, judged)
        if block.ids is not None:
            hashed = self.ids.add(block.ids, ~needed)
            sifted = replace(sifted, unneeded=sifted.unneeded.with_others(hashed))
        self._sifted = sifted if self._sifted is None else self._sifted.with_others(sifted)
        return needed

    def _require_all_columns(self) -> None:
        """Have a file read again that is read in part: of rows that are no plain events all is told."""
        if self._left_out:
            raise ColumnsLeftOutError


def sieve_of(task: ReadTask, known: LogFormat, writing: Writing) -> ChunkSieve | None:
    """What holds back rows of a file; None where it is not known of single rows what events they are."""
    untold = task.needed is None or known.repeats is not None or known.whole_days
    changed = bool(task.type_names or task.model.rules or writing.rules or writing.of_lines)
    if untold or changed or task.reading.time_unit != task.written.unit or task.needed is None:
        return None
    ids = ToldIds(task.scratch, task.ids_may_ascend)
    return ChunkSieve(task.needed, task.written.unit, ids, task.all_columns)


def _is_plain_attribute(column: str) -> bool:
    return column not in _OF_EVENTS and column not in NO_ATTRIBUTES and not column.startswith(RAW_PREFIX)


def _kind_of_all(field: pa.Field) -> Kind | None:
    """The kind that an attribute of some type has; None where the values have to tell it."""
    kinds = kinds_of_field(field) if field.type in _PLAIN_TYPES else frozenset()
    return unified(kinds) if kinds else None


def _block(columns: Mapping[str, pa.Array], *, inferred: bool) -> _EventBlock | None:
    """The rows as events; None where some may be none, or it would take more to tell of them."""
    types, ids = columns.get("event_type"), columns.get("event_id")
    if types is None or not _are_texts(types) or not (ids is None or _are_texts(ids)):
        return None
    if ids is not None and pa.types.is_dictionary(ids.type):
        ids = ids.cast(pa.string())
    names = [name for name in columns if name not in _OF_EVENTS]
    if not all(map(_is_plain_attribute, names)):
        return None
    if not all(columns[name].type in _PLAIN_TYPES or _is_of_texts(columns[name]) for name in names):
        return None
    lower, upper = (_ticks(columns.get(name)) for name in ("lower", "upper"))
    if lower is None or upper is None or not _are_intervals(lower.to_numpy(), upper.to_numpy()):
        return None
    metadata = INFERRED if inferred else None
    attributes, fields = {}, {}
    for name in names:
        own, values = attribute_name(name), pa.chunked_array([columns[name]])
        if _is_of_texts(columns[name]):
            fields[own] = pa.field(own, pa.string())
        else:
            values = simple(values)
            fields[own] = simple_field(own, pa.field(own, columns[name].type, metadata=metadata), values)
        attributes[own] = values
    return _EventBlock(types, ids, lower, upper, attributes, fields) if len(fields) == len(names) else None


def _is_of_texts(column: pa.Array) -> bool:
    """Whether a column holds each text once, in a dictionary."""
    return bool(pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type))


def _are_texts(column: pa.Array) -> bool:
    """Whether every row has a text, and none is empty."""
    if column.null_count:
        return False
    texts = column.dictionary if _is_of_texts(column) else column
    if not pa.types.is_string(texts.type) or texts.null_count:
        return False
    return bool(pc.min(pc.binary_length(texts)).as_py())


def _are_intervals(lower: Numbers, upper: Numbers) -> bool:
    """Whether every row has an interval within the ends of time."""
    if not len(lower) or lower.min() < EARLIEST_TICK or upper.max() > LATEST_TICK:
        return False
    return not bool((lower > upper).any())


def _ticks(column: pa.Array | None) -> pa.Array | None:
    """A column as ticks; None where some row has none, or writes it otherwise than as an integer."""
    if column is None or column.null_count or column.type not in _PLAIN_TYPES:
        return None
    if pa.types.is_string(column.type):
        column = integers_of_texts(column)
    if column is None or not pa.types.is_integer(column.type):
        return None
    return column.cast(pa.int64())


def _sifted(block: _EventBlock, facts: Mapping[str, AttributeFacts], needed: Flags, judged: Judged) -> Sifted:
    """What is to be known of the rows of a block that are not needed; `facts` are those of all its rows."""
    kept, left = pa.array(needed), ~needed
    types = _counts(block.types, needed)
    lower, upper = block.lower.to_numpy(), block.upper.to_numpy()
    wide = left & (upper > lower)
    inexact = (
        types.keys()
        if np.count_nonzero(wide) == np.count_nonzero(left)
        else pc.unique(block.types.filter(pa.array(wide))).to_pylist()
    )
    unneeded = Unneeded(
        types,
        frozenset(inexact),
        int(upper[left].max()),
        read_as={name: frozenset({kind}) for name, kind in judged.read_as.items()},
    )
    own = _without(facts, block.facts(kept))
    return Sifted(unneeded, own, int(lower[left].min()), ids_given=block.ids is not None)


def _counts(types: pa.Array, needed: Flags) -> Counter[str]:
    """How many rows that are not needed have each type."""
    if _is_of_texts(types):
        found = np.bincount(types.indices.to_numpy()[~needed], minlength=len(types.dictionary))
        counts = Counter[str]()
        for name, count in zip(types.dictionary.to_pylist(), found.tolist(), strict=True):
            counts[name] += count  # A damaged dictionary may hold a text twice.
        return +counts
    kept = types.filter(pa.array(needed))
    every, of_kept = (
        Counter({each["values"]: each["counts"] for each in pc.value_counts(column).to_pylist()})
        for column in (types, kept)
    )
    return every - of_kept


def _without(
    facts: Mapping[str, AttributeFacts], kept: Mapping[str, AttributeFacts]
) -> dict[str, AttributeFacts]:
    """Facts without the values of rows that are told of later; the kinds are those of all."""
    return {
        name: AttributeFacts(
            each.kinds,
            each.values - kept[name].values,
            each.text,
            each.beyond_floats - kept[name].beyond_floats,
        )
        for name, each in facts.items()
    }
