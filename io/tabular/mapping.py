"""Which column of a plain event file is what: names as they stand, or as the user maps them.

A mapping (field, column) says that the file's `column` holds what the event table calls `field`: one
of its columns, or an attribute that is to have another name.  A column that is called like a mapped
field without being it stays as an attribute with the prefix `attr:`.

Tables of well-known programs need no mapping (known_tables.py).
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from difflib import get_close_matches

from cepctl.errors import EventSchemaError, UsageError
from cepctl.event_table import LENGTH_COLUMNS
from cepctl.io.contract.batches import column_name
from cepctl.io.contract.reader import ColumnMap
from cepctl.io.tabular.composed import composed_of
from cepctl.io.tabular.known_tables import known_table
from cepctl.schema import ATTRIBUTE_PREFIX, CLOCK, CLOCK_OFFSET, END_TIME

RESERVED = (
    *("event_id", "event_type", "lower", "upper", "end_lower", "end_upper", "pmf", "time", END_TIME),
    *(CLOCK, CLOCK_OFFSET, *LENGTH_COLUMNS),
)
_LISTED = 30


def parse_mapping(texts: Sequence[str]) -> ColumnMap:
    """The mapping in texts such as `event_type=activity,time=ts`; quotes protect a comma.

    Raises
    ------
    UsageError
        If a part is no `field=column`, a field or a column occurs twice, or a field is a misspelt one.

    Examples
    --------
    >>> parse_mapping(["event_type=activity,time=ts", '"node=host, short"'])
    (('event_type', 'activity'), ('time', 'ts'), ('node', 'host, short'))
    """
    pairs: list[tuple[str, str]] = []
    for part in (part for text in texts for part in next(csv.reader([text]), [])):
        field, equals, column = (piece.strip() for piece in part.partition("="))
        if not (field and equals and column):
            raise UsageError(f"--map '{part}' is not of the form FIELD=COLUMN, such as event_type=activity")
        near = get_close_matches(field, RESERVED, 1, 0.8)
        if near and near[0] != field:
            raise UsageError(f"--map '{part}': the event table has no '{field}'; did you mean '{near[0]}'?")
        pairs.append((field, column))
    for what, names in (("field", [f for f, _ in pairs]), ("column", [c for _, c in pairs])):
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise UsageError(f"--map names the {what} '{twice[0]}' twice; each may be mapped once")
    return tuple(pairs)


def mapping_of(names: Sequence[str], mapping: ColumnMap) -> ColumnMap:
    """The mapping that holds for a file with these columns: the user's, else that of a known table.

    Examples
    --------
    >>> mapping_of(["concept:name", "cost", "time:timestamp"], ())
    (('event_type', 'concept:name'), ('time', 'time:timestamp'))
    >>> mapping_of(["event_type", "time", "concept:name", "time:timestamp"], ())
    ()
    """
    known = None if mapping else known_table(names)
    return mapping if known is None else known.mapping


def raw_names(names: Sequence[str], mapping: ColumnMap, source: str) -> list[str]:
    """The columns of a file as columns of raw events, in their order.

    Raises
    ------
    EventSchemaError
        If a column that the mapping names is missing, two columns have one name, or no column holds
        the type or the time of events.
    """
    mapping = mapping_of(names, mapping)
    require_mapped(names, mapping, source)
    found = [raw_name(name, mapping) for name in names]
    require_events(found, names, source, composed_fields(names, mapping))
    return found


def composed_fields(names: Sequence[str], mapping: ColumnMap) -> list[str]:
    """The fields that a mapping composes of columns that a file with these names has."""
    return [
        field
        for field, column in mapping
        if column not in names
        and (parts := composed_of(field, column)) is not None
        and parts.missing(names) is None
    ]


def require_mapped(names: Sequence[str], mapping: ColumnMap, source: str) -> None:
    """Raise EventSchemaError unless every column that the mapping names is there."""
    for field, column in mapping:
        parts = None if column in names else composed_of(field, column)
        missing = column if parts is None else parts.missing(names)
        if missing is not None and missing not in names:
            near = get_close_matches(missing, names, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"it has {listed(names)}"
            raise EventSchemaError(
                f"{source}: there is no column '{missing}' to be the {field} (--map {field}={column}); {hint}"
            )


def require_events(
    found: Sequence[str], names: Sequence[str], source: str, composed: Sequence[str] = ()
) -> None:
    """Raise EventSchemaError unless the raw columns `found`, and those `composed`, can be those of events.

    `names` are shown.
    """
    if "event_type" not in (*found, *composed):
        raise EventSchemaError(
            f"{source}: no column event_type (found {listed(names)}); say which column holds the kind "
            "of event: --map event_type=COLUMN"
        )
    if not has_events([*found, *composed]):
        raise EventSchemaError(
            f"{source}: no column time, and not both lower and upper (found {listed(names)}); say which "
            "column holds the time: --map time=COLUMN"
        )
    seen: set[str] = set()
    for new, name in zip(found, names, strict=True):
        if new in seen:
            raise EventSchemaError(f"{source}: two columns are named '{name}'; rename one of them")
        seen.add(new)


def has_events(found: Sequence[str]) -> bool:
    """Whether the raw columns `found` can be those of events."""
    timed = "time" in found or {"lower", "upper"} <= set(found) or "pmf" in found
    return timed and "event_type" in found


def listed(names: Sequence[str]) -> str:
    """Names for a message: the first of them where there are many."""
    more = len(names) - _LISTED
    return (", ".join(names[:_LISTED]) or "none") + (f" and {more:,} more" if more > 0 else "")


def raw_name(name: str, mapping: ColumnMap) -> str:
    """One column of a file as a column of raw events.

    Examples
    --------
    >>> mapping = (("time", "ts"),)
    >>> raw_name("ts", mapping), raw_name("time", mapping), raw_name("number", mapping)
    ('time', 'attr:time', 'attr:number')
    """
    fields = {column: field for field, column in mapping}
    if name not in fields and name in fields.values():
        return ATTRIBUTE_PREFIX + name
    found = fields.get(name, name)
    return found if found in RESERVED else column_name(found)
