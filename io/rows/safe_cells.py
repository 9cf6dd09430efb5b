"""Cells that a spreadsheet takes for text: what it would compute as a formula gets an apostrophe in front.

The rule is that of OWASP, "CSV Injection": = + - @, a tab or a carriage return at the beginning.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

_FORMULA = "^[=+@\t\r-]"
# No two columns may get the same name.
_FORMULA_NAME = re.compile("'*[=+@\t\r-]")


def safe_cells(rows: pa.Table) -> pa.Table:
    """The rows with an apostrophe before each text and each name of a column that begins like a formula.

    Numbers stay as they are.

    Examples
    --------
    >>> safe_cells(pa.table({"a": ["=1+1", "-x", "x", None], "b": [-1, 2, 3, 4]})).to_pydict()
    {'a': ["'=1+1", "'-x", 'x', None], 'b': [-1, 2, 3, 4]}
    >>> safe_cells(pa.table({"=1+1": [1]})).column_names
    ["'=1+1"]
    """
    for at, field in enumerate(rows.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            texts = rows.column(at)
            escaped = pc.binary_join_element_wise(
                pa.scalar("'", field.type), texts, pa.scalar("", field.type)
            )
            formula = pc.match_substring_regex(texts, _FORMULA)
            rows = rows.set_column(at, field.name, pc.if_else(formula, escaped, texts))
    names = [f"'{name}" if _FORMULA_NAME.match(name) else name for name in rows.column_names]
    return rows.rename_columns(names)
