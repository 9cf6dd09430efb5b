"""Log records as typed events: the first pattern that fits a record names its type and attributes.

Patterns are tried one after the other, each on all the records that are still open and whose logger
and level it looks at, so the work per record is a few compiled searches and no step of Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.batches import column_name
from cepctl.io.contract.hosts import node_names
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.natural_columns import mixture, natural_array
from cepctl.io.contract.reader import ReadOptions
from cepctl.numeric.arrays import Flags, Numbers

_LOGGERS_REMEMBERED = 10_000


@dataclass
class PatternTable:
    """Patterns in the order in which they are tried, and which of them look at the records of a logger."""

    patterns: Sequence[LogPattern]
    _of_logger: dict[str, Flags] = field(default_factory=dict)

    def looking_at(self, loggers: Sequence[str]) -> Flags:
        """Shape (patterns, loggers): whether the pattern looks at records of the logger."""
        for name in loggers:
            if name not in self._of_logger:
                if len(self._of_logger) == _LOGGERS_REMEMBERED:
                    self._of_logger.clear()
                self._of_logger[name] = np.array([pattern.fits(name) for pattern in self.patterns], np.bool_)
        return np.column_stack([self._of_logger[name] for name in loggers])


@lru_cache(maxsize=8)
def table_of(patterns: tuple[LogPattern, ...]) -> PatternTable:
    """The table of some patterns, which many small files share: each has the loggers of those before it."""
    return PatternTable(patterns)


@dataclass
class TypedRecords:
    """Which records fit a pattern, with what: `pattern` is its place in the list, -1 for none.

    `pieces` maps an attribute to rows and their strings; rows of one attribute never repeat.
    """

    pattern: Numbers
    pieces: dict[str, list[tuple[Numbers, pa.Array]]] = field(default_factory=dict)

    def column(self, name: str) -> pa.Array:
        """The strings of an attribute, null where a record has none."""
        place = np.full(len(self.pattern), -1, np.int64)
        taken = 0
        for rows, _ in self.pieces.get(name, []):
            place[rows] = taken + np.arange(len(rows))
            taken += len(rows)
        if not taken:
            return pa.nulls(len(self.pattern), pa.string())
        values = pa.concat_arrays([texts for _, texts in self.pieces[name]])
        return values.take(pa.array(place, mask=place < 0))


def typed_records(
    messages: pa.Array, loggers: pa.Array, levels: pa.Array, table: PatternTable
) -> TypedRecords:
    """Try the patterns in their order; an empty group, or one that took no part, is not an attribute.

    `messages`, `loggers` and `levels` are those of the records; a level may be null.
    """
    typed = TypedRecords(np.full(len(messages), -1, np.int64))
    waiting = np.ones(len(messages), np.bool_)
    logger = loggers.dictionary_encode()
    codes = logger.indices.to_numpy()
    looked_at = table.looking_at(logger.dictionary.to_pylist())
    for number in np.flatnonzero(looked_at.any(axis=1)).tolist():
        pattern = table.patterns[number]
        rows = np.flatnonzero(waiting & looked_at[number][codes])
        if pattern.level is not None:
            rows = rows[_flags(pc.fill_null(pc.equal(levels, pattern.level), False))[rows]]
        if not len(rows):
            continue
        groups = pc.extract_regex(messages.take(pa.array(rows)), pattern.regex)
        fitting = np.flatnonzero(_flags(groups.is_valid()))
        if not len(fitting):
            continue
        rows, groups = rows[fitting], groups.take(pa.array(fitting))
        waiting[rows] = False
        typed.pattern[rows] = number
        for name in pattern.attributes:
            given = np.flatnonzero(_flags(pc.not_equal(groups.field(name), "")))
            if len(given):
                texts = groups.field(name).take(pa.array(given))
                typed.pieces.setdefault(name, []).append((rows[given], texts))
    return typed


def group_columns(typed: TypedRecords, options: ReadOptions) -> dict[str, tuple[pa.Array, Flags]]:
    """The attributes that patterns found, hosts in the one spelling of hosts, and which records have each."""
    found: dict[str, tuple[pa.Array, Flags]] = {}
    for name, pieces in typed.pieces.items():
        texts, present = typed.column(name), np.zeros(len(typed.pattern), np.bool_)
        for rows, _ in pieces:
            present[rows] = True
        is_host = name == "node" or name.endswith("_node")
        found[name] = (node_names(texts, options.drop_domain) if is_host else texts), present
        if name == "node":
            found["node_raw"] = texts, present
    return found


def with_groups(
    columns: Mapping[str, pa.Array], typed: TypedRecords, options: ReadOptions
) -> tuple[dict[str, pa.Array], dict[str, str | None]]:
    """Columns, where records have them those that patterns found; and the kinds of values that are mixed."""
    joined, mixed = dict(columns), dict[str, str | None]()
    for name, (texts, present) in group_columns(typed, options).items():
        column = column_name(name)
        own = joined.get(column, pa.nulls(len(texts), pa.string()))
        if pa.types.is_null(own.type) or pa.types.is_string(own.type):
            values = pc.if_else(pa.array(present), texts, own)
            joined[column] = values if values.null_count < len(values) else pa.nulls(len(values))
            continue
        chosen = zip(texts.to_pylist(), own.to_pylist(), present.tolist(), strict=True)
        both = [text if given else value for text, value, given in chosen]
        joined[column] = natural_array(both)
        mixed[column] = mixture(both, joined[column])
    return joined, mixed


def _flags(column: pa.Array) -> Flags:
    found: Flags = column.to_numpy(zero_copy_only=False).astype(np.bool_)
    return found
