"""Fields of events that a mapping composes of several columns, and names that stand deep inside of records.

    --map time=A|B          the first of both that a record has
    --map time=day+clock    both, with a blank between them
    --map time=SystemTime   also data.Event.SystemTime, where no other field ends so

A column that is called so itself comes before what its name would compose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.reader import ColumnMap

FIRST, JOINED = "|", "+"
_COMPOSED = frozenset(("time", "end_time", "lower", "upper", "event_type", "event_id", "arrival"))


@dataclass(frozen=True)
class Composed:
    """What a field is composed of: the first of its columns that says something, or all of them."""

    sign: str
    columns: tuple[str, ...]

    def missing(self, names: Iterable[str]) -> str | None:
        """A column that a file with these names lacks; None where it has what is needed."""
        known = set(names)
        lacking = [each for each in self.columns if each not in known]
        enough = len(lacking) < len(self.columns) if self.sign == FIRST else not lacking
        return None if enough else lacking[0]

    def value(self, record: Mapping[str, Any]) -> Any:
        """What a record says; None where it says nothing."""
        values = [record.get(name) for name in self.columns]
        if self.sign == FIRST:
            return next((value for value in values if value not in (None, "")), None)
        return None if None in values else " ".join(map(str, values))


def composed_of(field: str, column: str) -> Composed | None:
    """What the column of a mapping composes a field of; None where it names one column.

    Examples
    --------
    >>> composed_of("time", "date+clock").columns, composed_of("note", "a|b")
    (('date', 'clock'), None)
    """
    if field not in _COMPOSED:
        return None
    for sign in (FIRST, JOINED):
        parts = tuple(part.strip() for part in column.split(sign))
        if len(parts) > 1 and all(parts):
            return Composed(sign, parts)
    return None


def columns_meant(mapping: ColumnMap) -> list[str]:
    """All columns that a mapping may mean, those among them of which it composes fields."""
    found = []
    for field, column in mapping:
        parts = composed_of(field, column)
        found += [column, *(() if parts is None else parts.columns)]
    return list(dict.fromkeys(found))


def with_composed(
    columns: Mapping[str, pa.Array], mapping: ColumnMap, names: Mapping[str, str]
) -> Mapping[str, pa.Array]:
    """Columns with the fields that are composed of them; those that were joined are gone.

    `names`: what the columns of a mapping are called among these.
    """
    found, joined = dict(columns), set[str]()
    for field, column in mapping:
        parts = composed_of(field, column)
        if parts is None or field in columns:
            continue
        values = [columns[name] for part in parts.columns if (name := names[part]) in columns]
        if not values:
            continue
        if parts.sign == FIRST:
            found[field] = _first(values)
        else:
            found[field] = pc.binary_join_element_wise(*map(_text, values), " ")
            joined |= {names[part] for part in parts.columns}
    return {name: values for name, values in found.items() if name not in joined}


def _first(values: Sequence[pa.Array]) -> pa.Array:
    if len({each.type for each in values}) > 1:
        values = [*map(_text, values)]
    if pa.types.is_string(values[0].type):
        values = [pc.if_else(pc.equal(pc.utf8_trim_whitespace(each), ""), None, each) for each in values]
    return pc.coalesce(*values)


def _text(values: pa.Array) -> pa.Array:
    return values.cast(pa.string())


def name_meant(name: str, names: Iterable[str]) -> str | None:
    """The one of these names that is meant: itself, or the only one that ends with it behind a dot.

    Examples
    --------
    >>> name_meant("b", ["a.b", "c"]), name_meant("c", ["a.c", "c"]), name_meant("b", ["a.b", "c.b"])
    ('a.b', 'c', None)
    """
    known = [*names]
    if name in known:
        return name
    ending = [each for each in known if each.endswith(f".{name}")]
    return ending[0] if len(ending) == 1 else None


def mapping_meant(mapping: ColumnMap, names: Iterable[str]) -> ColumnMap:
    """A mapping with the names that are meant by it, of fields at any depth; others stay as they are."""
    known = [*names]
    found = []
    for field, column in mapping:
        parts = None if column in known else composed_of(field, column)
        if parts is None:
            found.append((field, name_meant(column, known) or column))
        else:
            meant = (name_meant(part, known) or part for part in parts.columns)
            found.append((field, parts.sign.join(meant)))
    return tuple(found)
