"""The kinds of the attributes that rules of a model read, derived from all chunks of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from cepctl.datasets.kinds import (
    ARROW_TYPES,
    Kind,
    converted,
    is_inferred,
    kind_of_texts,
    kinds_in_text,
    kinds_of,
    unified,
)
from cepctl.errors import UncertaintyModelError
from cepctl.ingestion.chunks import has_column, is_attribute
from cepctl.uncertainty.model import Rule

ReadAs = Mapping[str, Kind | None]
"""The kind that each attribute is read as; None where it has no value."""


@dataclass
class KindsRead:
    """The kinds of the attributes `names` in the chunks of one file, as they come.

    The first reading of a file takes each chunk to be like those before it.  Where one shows that to be wrong
    (`differ`), the file has to be read once more, with what is then `known`.  A chunk to which a rule cannot
    be applied is a `problem` only where it is read as the whole file is.
    """

    names: frozenset[str]
    known: ReadAs | None = None
    problem: UncertaintyModelError | None = None
    differ: bool = False
    _kinds: dict[str, frozenset[Kind]] = field(default_factory=dict)
    _text: set[str] = field(default_factory=set)

    def of_next(self, table: pa.Table) -> ReadAs | None:
        """What the attributes of the next chunk are to be read as; None where it need not be read at all."""
        if self.known is not None:
            return self.known
        first = not self._kinds
        before = self.of_file
        for name in self.names:
            self._kinds[name] = self._kinds.get(name, frozenset()) | self._kinds_in(table, name)
        self.differ = self.differ or not (first or before == self.of_file)
        return None if self.differ or self.problem is not None else self.of_file

    def _kinds_in(self, table: pa.Table, name: str) -> frozenset[Kind]:
        if not has_column(table, name):
            return frozenset()
        column, its_field = table.column(name), table.schema.field(name)
        if not is_inferred(its_field):
            return kinds_of(its_field, column)
        self._text.add(name)
        return kinds_in_text(column)

    @property
    def of_file(self) -> ReadAs:
        """The kind of every attribute in all chunks so far."""
        return self.known if self.known is not None else {name: self._kind(name) for name in self.names}

    def _kind(self, name: str) -> Kind | None:
        kinds = self._kinds.get(name)
        if not kinds:
            return None
        return unified({kind_of_texts(kinds)} if name in self._text else kinds)


def kinds_read_by(rules: Sequence[Rule]) -> KindsRead:
    """The attributes that conditions and clocks of rules read, before the first chunk of a file."""
    read = frozenset[str]().union(*(rule.columns_read for rule in rules))
    attributes = frozenset(filter(is_attribute, read))
    return KindsRead(attributes, None if attributes else {})


def column_as(table: pa.Table, name: str, kind: Kind | None) -> pa.ChunkedArray:
    """An attribute of a chunk as values of a kind, nulls where the chunk does not have it."""
    if kind is None or not has_column(table, name):
        return pa.chunked_array([pa.nulls(len(table), pa.null() if kind is None else ARROW_TYPES[kind])])
    return converted(table.column(name), kind)
