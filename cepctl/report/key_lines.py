"""The keys of GROUP BY as a page shows them: what is known of each, and which of its matches are listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cepctl.arrays import Indexes
from cepctl.plan.plan import EXPECTED_ERROR, OCCURRENCE_ERROR
from cepctl.report.records import plain

_TOLD = ("occurrence", OCCURRENCE_ERROR, "expected", EXPECTED_ERROR, "matches", "confidence")
NO_KEY = -1


@dataclass(frozen=True)
class KeyLines:
    """The listed keys of all `total`, and the `answer` in words.

    `names` are the columns of the key, `keys` rows of `cepctl.engines.rows.groups.group_schema`, and `owner`,
    shape (matches,), says which of them each listed match is of.  `best_alone`: no other match is listed.
    """

    names: tuple[str, ...]
    keys: pa.Table
    owner: Indexes
    total: int
    answer: str
    best_alone: bool

    def described(self) -> dict[str, Any]:
        """What the page is given: per key its values, numbers, and the listed matches, the best first."""
        order = np.argsort(self.owner, kind="stable")
        ends = np.searchsorted(self.owner[order], np.arange(self.keys.num_rows + 1))
        told = [name for name in _TOLD if name in self.keys.column_names]
        values = self.keys.select([*self.names]).to_pylist() if self.names else [{}] * self.keys.num_rows
        lines = [
            {
                "key": [plain(value) for value in key.values()],
                **numbers,
                "rows": order[ends[number] : ends[number + 1]].tolist(),
            }
            for number, (key, numbers) in enumerate(
                zip(values, self.keys.select(told).to_pylist(), strict=True)
            )
        ]
        return {
            "names": list(self.names),
            "total": self.total,
            "answer": self.answer,
            "bestAlone": self.best_alone,
            "lines": lines,
        }


def owners(names: tuple[str, ...], keys: pa.Table, matches: pa.Table) -> Indexes:
    """The number of the key that each match has, NO_KEY where it is not among the keys."""
    if not names:
        return np.zeros(matches.num_rows, dtype=np.int64)
    known = {_text(key): number for number, key in enumerate(keys.select(names).to_pylist())}
    found = [known.get(_text(key), NO_KEY) for key in matches.select(names).to_pylist()]
    return np.array(found, dtype=np.int64)


def _text(key: dict[str, Any]) -> str:
    """Equal for equal keys, also where a value is not a number."""
    return repr(tuple(key.values()))
