"""Event types called as the user wants, whichever reader gave them their names."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import UsageError

TypeNames = Sequence[tuple[str, str]]
"""Pairs of the name in the log and the name in the dataset; all at once, so two may be swapped."""


def check_names(names: TypeNames) -> TypeNames:
    """The names without blanks around them; those that leave open what a type is to be called are refused.

    Raises
    ------
    UsageError
        If a type is to have two names, or an empty one.
    """
    chosen: dict[str, str] = {}
    names = tuple((old.strip(), new.strip()) for old, new in names)
    for old, new in names:
        if not new:
            raise UsageError(f"--name {old}=: the new name is missing")
        if chosen.setdefault(old, new) != new:
            raise UsageError(f"--name {old}={new}: '{old}' is to be called '{chosen[old]}' already")
    return names


def renamed(table: pa.Table, names: TypeNames) -> tuple[pa.Table, frozenset[str]]:
    """The events with their new types, and which of the old ones occur among them."""
    if not names:
        return table, frozenset()
    old, new = (pa.array(each, pa.string()) for each in zip(*dict(names).items(), strict=True))
    types = table.column("event_type")
    place = pc.index_in(types, value_set=old)
    found = old.take(pc.drop_null(pc.unique(place))).to_pylist()
    at = table.column_names.index("event_type")
    return table.set_column(at, table.schema.field(at), pc.coalesce(pc.take(new, place), types)), frozenset(
        found
    )
