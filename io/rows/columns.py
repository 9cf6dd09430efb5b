"""Which columns rows have, in which order: what was asked first, what it stands on last."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from cepctl.errors import UsageError

_AFTER = ("confidence", "confidence_error", "start", "end", "open", "open_until", "match", "signature")


def answer_first(rows: pa.Table) -> pa.Table:
    """Rows of matches with the columns of RETURN before the confidence, the times and the ids of the events.

    Rows of GROUP BY are as they were.

    Examples
    --------
    >>> rows = pa.table({"match": ["a b"], "start": [1], "end": [2], "confidence": [0.5], "a.x": [7]})
    >>> answer_first(rows).column_names
    ['a.x', 'confidence', 'start', 'end', 'match']
    """
    names = rows.column_names
    if "match" not in names:
        return rows
    asked = [name for name in names if name not in _AFTER]
    return rows.select([*asked, *(name for name in _AFTER if name in names)])


def chosen_columns(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """The columns of these names, in this order; all of them where there are no names.

    Raises
    ------
    UsageError
        If there is no such column.
    """
    require_columns(names, rows.column_names)
    return rows.select(list(names)) if names else rows


def require_columns(names: Sequence[str], known: Sequence[str]) -> None:
    """Raise UsageError where a column is not among those that there are.

    Examples
    --------
    >>> require_columns(["peek"], ["peak", "confidence"])
    Traceback (most recent call last):
    ...
    cepctl.errors.UsageError: --columns: there is no column 'peek'; there are peak, confidence
    """
    for name in names:
        if name not in known:
            hint = f"; RETURN {name} in the query makes it one" if "." in name or "(" in name else ""
            raise UsageError(f"--columns: there is no column '{name}'; there are {', '.join(known)}{hint}")
