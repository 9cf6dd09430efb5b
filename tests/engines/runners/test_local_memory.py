"""The local runner reads no further once the events that can matter do not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest

from cepctl.datasets.row_groups import PushedFilter
from cepctl.engines.event.match import schema_for
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.sorted import SortedRows
from cepctl.engines.runners.stored import collect
from cepctl.errors import QueryTooLargeError
from cepctl.process.memory import PROGRAM_BYTES, MemoryBudget
from cepctl.runners.local import LocalRunner
from tests.event_sources import TableSource
from tests.plans import Event, event_table, plan_of


@dataclass(frozen=True)
class NotedSource(TableSource):
    """Notes the row groups that are read."""

    read_groups: list[int] = field(default_factory=list)

    def read(self, part: int, numbers: Sequence[int], pushed: PushedFilter) -> Iterator[pa.Table]:
        for number in numbers:
            self.read_groups.append(number)
            yield from super().read(part, [number], pushed)


@pytest.mark.parametrize(("own", "read"), [(100, [0]), (1_000_000, [0, 1])])
def test_row_groups_are_read_until_there_is_no_room(own: int, read: list[int], tmp_path: Path) -> None:
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 9 ticks")
    events = event_table([Event(f"{kind}{at}", kind, at, at) for at in range(2) for kind in "AB"])
    source = NotedSource(events.sort_by([("lower", "ascending")]), size=2)
    options = MatchOptions(memory=MemoryBudget(PROGRAM_BYTES + own))
    rows = SortedRows(schema_for(plan, options), options.wanted, options.memory, tmp_path)
    if len(read) == 1:
        with pytest.raises(QueryTooLargeError, match="where 50 B are for events"):
            collect(plan, [source], LocalRunner(), rows, options)
    else:
        collect(plan, [source], LocalRunner(), rows, options)
    assert source.read_groups == read
