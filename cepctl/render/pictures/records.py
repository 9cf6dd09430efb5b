"""Events, values and keys of GROUP BY in the plain types that JSON has, nothing lost on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from cepctl.laws.choices import LAWLESS
from cepctl.numeric.arrays import Indexes
from cepctl.plan.passed_over import readings_apart
from cepctl.plan.plan import EXPECTED_ERROR, OCCURRENCE_ERROR, Plan
from cepctl.render.pictures.matched_events import Bar, MatchedEvents, nanoseconds

Plain: TypeAlias = str | int | float | bool | None

_EXACT = 2**53
"""Integers below this in absolute value are exact in every reader of JSON."""


@dataclass(frozen=True)
class EventRecord:
    """One event: its interval in ticks, its buckets (lo, hi, p) where it is not uniform, its raw time.

    `time` is in nanoseconds since the epoch, None where the log gave none.  One that lasts has a `bar`: its
    interval reaches to the end of that, and its buckets say where it is under way.
    """

    event_id: str
    event_type: str
    source: str | None
    lower: int
    upper: int
    buckets: list[tuple[int, int, float]] | None
    time: int | None
    attributes: dict[str, Plain]
    bar: Bar | None = None


def event_records(found: MatchedEvents) -> list[EventRecord]:
    """The bound events in the order of their table."""
    events, names = found.events, found.attributes
    columns = ["event_id", "event_type", "source", "lower", "upper", "pmf"]
    fixed = events.select(columns).to_pylist()
    attributes = events.select(names).to_pylist() if names else [{} for _ in fixed]
    records = [
        EventRecord(
            row["event_id"],
            row["event_type"],
            row["source"],
            row["lower"],
            row["upper"],
            [(each["lo"], each["hi"], each["p"]) for each in row["pmf"]] if row["pmf"] else None,
            time,
            {name: plain(value) for name, value in given.items() if value is not None},
        )
        for row, time, given in zip(fixed, nanoseconds(events.column("time")), attributes, strict=True)
    ]
    for row, bar in found.bars.items():
        records[row] = replace(records[row], upper=bar.end_upper, buckets=bar.under_way, bar=bar)
    return records


def plain(value: Plain) -> Plain:
    """A value that JSON readers keep as it is: what they would round or refuse becomes text.

    Examples
    --------
    >>> plain(7), plain(2**60), plain(float("inf"))
    (7, '1152921504606846976', 'inf')
    """
    if isinstance(value, int) and not -_EXACT < value < _EXACT:
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def variables(plan: Plan) -> list[list[str]]:
    """For each reading the variables of its positive components, in pattern order."""
    return [
        [each.components[i].variable for i in each.positive] for each in readings_apart(plan, of_runs=True)
    ]


_TOLD = ("occurrence", OCCURRENCE_ERROR, "expected", EXPECTED_ERROR, LAWLESS, "matches", "confidence")
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
        shown = [name for name in _TOLD if name in self.keys.column_names]
        values = self.keys.select([*self.names]).to_pylist() if self.names else [{}] * self.keys.num_rows
        lines = [
            {
                "key": [plain(value) for value in key.values()],
                **numbers,
                "rows": order[ends[number] : ends[number + 1]].tolist(),
            }
            for number, (key, numbers) in enumerate(
                zip(values, self.keys.select(shown).to_pylist(), strict=True)
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
