"""Runs of test events in pieces, in memory, and what they have to amount to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.shared import Clocks
from cepctl.engines.runners import local
from cepctl.errors import UnsupportedQueryError
from cepctl.plan.plan import Plan
from cepctl.schema import CLOCK
from cepctl.state.advancing import Outcome, RunOptions, advance
from cepctl.state.finality import CHANGE, by_end
from cepctl.state.progress import Progress, beginning
from tests.plans import Event, event_table, plan_of


@dataclass
class Runs:
    """Incremental runs of one query over test events."""

    plan: Plan
    options: RunOptions = field(default_factory=RunOptions)
    outcomes: list[Outcome] = field(default_factory=list)
    progress: Progress | None = None

    @classmethod
    def of(cls, query: str, clocks: Clocks | None = None, **options: Any) -> Runs:
        return cls(plan_of(query, clocks), RunOptions(**options))

    def take(self, *events: Event, **changes: bool) -> list[str]:
        """One run; what it says, each row as `change match`, or the match alone."""
        rows = self.outcome(event_table(events), **changes).rows
        marks = rows.column(CHANGE).to_pylist() if CHANGE in rows.column_names else [""] * len(rows)
        return [
            f"{mark} {match}".strip() for mark, match in zip(marks, rows["match"].to_pylist(), strict=True)
        ]

    def outcome(self, events: pa.Table, **changes: bool) -> Outcome:
        wanted = events.select([n for n in events.column_names if n not in ("source",)])
        if self.plan.clocks and CLOCK not in wanted.column_names:
            # Where `event_table` puts it.
            clock = pa.nulls(len(wanted), pa.string())
            wanted = wanted.add_column(wanted.column_names.index("time") + 1, CLOCK, clock)
        before = self.progress or beginning(self.plan, wanted.schema)
        found = advance(before, wanted, self.plan, local.run, replace(self.options, **changes))
        self.progress = found.progress
        self.outcomes.append(found)
        return found

    @property
    def emitted(self) -> list[pa.Table]:
        return [each.rows for each in self.outcomes]


def in_one_run(plan: Plan, events: Iterable[Event]) -> pa.Table:
    """The rows of a single run over everything."""
    return by_end(local.run(plan, event_table(events)))


def is_refused(plan: Plan, events: Sequence[Event]) -> bool:
    try:
        local.run(plan, event_table(events))
    except UnsupportedQueryError:
        return True
    return False


def summed(parts: Sequence[pa.Table]) -> pa.Table:
    """What rows marked `+` and `-` amount to; each row that is retracted must have been emitted before."""
    provisional: dict[str, dict[str, object]] = {}
    schema = next(part.schema for part in parts)
    for part in parts:
        rows = part.to_pylist()
        assert [row for row in rows if row.get(CHANGE) == "-" and row["match"] not in provisional] == []
        for row in rows:
            if row.get(CHANGE) == "-":
                gone = provisional.pop(row["match"])
                assert gone["end"] == row["end"]
        for row in rows:
            if row.get(CHANGE, "+") == "+":
                assert row["match"] not in provisional, "a match was emitted twice"
                provisional[row["match"]] = row
    table = pa.Table.from_pylist(list(provisional.values()), schema=schema)
    return by_end(table.drop_columns([CHANGE]) if CHANGE in table.column_names else table)


def ends_in_order(parts: Sequence[pa.Table]) -> bool:
    """Whether no run says an end that lies before one of an earlier run."""
    ends = [end for part in parts for end in part.column("end").to_pylist()]
    return ends == sorted(ends)


def total(parts: Sequence[pa.Table]) -> pa.Table:
    return by_end(pa.concat_tables(parts))


def late_ids(outcome: Outcome) -> list[str]:
    return sorted(pc.unique(outcome.late.column("event_id")).to_pylist())
