"""An engine and a runner as one function of tables, which is what incremental runs call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cepctl.atomic.folders import temporary_folder
from cepctl.errors import QueryTooLargeError
from cepctl.matching.execution import Execution
from cepctl.matching.run import find_rows
from cepctl.plan.evaluation_order import OrderName
from cepctl.process.memory import MemoryBudget, size_text

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from cepctl.engines.event.options import MatchOptions
    from cepctl.engines.rows.groups import FoundRows
    from cepctl.engines.rows.sorted import SortedRows
    from cepctl.plan.event_schema import EventSchema
    from cepctl.plan.plan import Plan


@dataclass(frozen=True)
class TableEngine:
    """Runs a plan on a table; all but the local runner are handed it as a dataset."""

    execution: Execution
    order: OrderName
    max_matches: int
    memory: MemoryBudget
    schema: EventSchema

    def __call__(self, plan: Plan, events: pa.Table) -> pa.Table:
        """The rows, in their one order.

        Raises
        ------
        QueryTooLargeError
            If they do not fit in memory; also what the engine raises.
        """
        from cepctl.engines.event.options import MatchOptions
        from cepctl.engines.rows.sorted import SortedRows

        options = MatchOptions(self.order, self.schema.type_counts, self.max_matches, memory=self.memory)
        local = self.execution.engine == "event" and self.execution.runner.here
        with temporary_folder() as folder:
            find = self._found_here if local else self._found_in_dataset
            rows = find(plan, events, options, folder)
            if isinstance(rows, SortedRows) and rows.spilled:
                raise self._too_many(rows)
            return rows.table()

    def _found_here(self, plan: Plan, events: pa.Table, options: MatchOptions, folder: Path) -> FoundRows:
        from cepctl.engines.event.match import schema_for
        from cepctl.engines.rows.sorted import SortedRows
        from cepctl.engines.runners import local
        from cepctl.plan.support import require_engine

        require_engine(plan, self.execution.engine)
        rows = SortedRows(schema_for(plan, options), options.wanted, self.memory, folder)
        for batch in local.batches(plan, events, options):
            rows.add(batch)
        return rows

    def _found_in_dataset(
        self, plan: Plan, events: pa.Table, options: MatchOptions, folder: Path
    ) -> FoundRows:
        import pyarrow.parquet as pq

        from cepctl.clocks.shared import clocks_metadata
        from cepctl.datasets.marker import SUCCESS
        from cepctl.matching.inputs import open_events
        from cepctl.schema import META_TIME_UNIT

        directory, runs = folder / "events", folder / "rows"
        directory.mkdir()
        runs.mkdir()
        unit = str(self.schema.time_unit).encode()
        metadata = {META_TIME_UNIT: unit, **clocks_metadata(plan.clocks)}
        pq.write_table(events.replace_schema_metadata(metadata), directory / "part-0.parquet")
        (directory / SUCCESS).touch()
        with open_events([str(directory)]) as inputs:
            return find_rows(plan, inputs, options, self.execution, runs)

    def _too_many(self, rows: SortedRows) -> QueryTooLargeError:
        return QueryTooLargeError(
            f"{rows.found:,} matches take {size_text(rows.size)} of memory, where "
            f"{size_text(self.memory.rows)} are for rows, and a run with --state holds all of its matches at "
            "once; give it less at a time (run it more often, or name fewer logs), have fewer matches "
            "(--min-confidence, a narrower query), or raise --max-memory"
        )
