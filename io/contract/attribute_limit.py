"""A limited number of attributes of one file become columns; the others share one column of JSON.

Names of attributes come from the input, so there may be as many as there are records.  The first
MOST_ATTRIBUTES names that a file shows are columns; what the later ones say goes, record by record, to
the column REST, which ends up in the column `other` of the dataset.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

MOST_ATTRIBUTES = 2_000
REST = "cepctl.rest"


@dataclass
class AttributeNames:
    """The attributes of one file that are columns; `most` is how many there may be."""

    most: int = MOST_ATTRIBUTES
    _columns: dict[str, None] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def admit_record(self, record: Mapping[str, Any]) -> bool:
        """As `admit`, for the names of a record, which as a rule are columns already."""
        return record.keys() <= self._columns.keys() or self.admit(record)

    def has_all(self, records: Iterable[dict[str, Any]]) -> bool:
        """Whether all names of the records are columns already."""
        return all(map(self._columns.keys().__ge__, map(dict.keys, records)))

    def admit(self, names: Iterable[str]) -> bool:
        """Make columns of the names while there is room; returns whether all of them are columns."""
        for name in names:
            if name not in self._columns:
                if len(self._columns) >= self.most:
                    return False
                self._columns[name] = None
        return True

    def among(self, names: Iterable[str]) -> list[str]:
        """Those of the names that are columns."""
        return [name for name in names if name in self._columns]

    def rest(self, record: Mapping[str, Any]) -> str | None:
        """The attributes of a record that are not columns, as a JSON object; None where all are."""
        others = {key: value for key, value in record.items() if key not in self._columns}
        known = {key: value for key, value in others.items() if value is not None}
        return json.dumps(known, ensure_ascii=False, default=str) if known else None
