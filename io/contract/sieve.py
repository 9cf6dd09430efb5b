"""Rows and columns of tables that never become events: what whoever reads a file cannot need of it.

Readers of tables ask before they make events of a block, which takes several times as long as to read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import pyarrow as pa

from cepctl.numeric.arrays import Flags


class Sieve(Protocol):
    """Tells which rows and columns are needed, and keeps account of the others."""

    def leave_out(self, types: Mapping[str, pa.DataType], counts: Mapping[str, int]) -> frozenset[str]:
        """The columns of a file that need not be read, of which account is taken here, before any row.

        `types` are those of all columns; `counts` say how many values those have that could be left out.
        """

    def passes(self, columns: Mapping[str, pa.Array]) -> None:
        """Take notice of a block all rows of which are to become events."""

    def needed(self, columns: Mapping[str, pa.Array], *, inferred: bool) -> Flags | None:
        """Which rows of a block are to become events, shape (n,); None for all.

        `columns` are those of raw events and attributes; `inferred`: the attributes are text whose type is
        not known yet.  The rows that are not needed are valid events, and taken account of.
        """
