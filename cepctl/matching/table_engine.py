"""An engine and a runner as one function of tables, which is what incremental runs call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cepctl.atomic.folders import temporary_folder
from cepctl.matching.run import Execution, run_plan
from cepctl.memory import MemoryBudget
from cepctl.plan.evaluation_order import OrderName

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.engines.event.alternative import MatchOptions
    from cepctl.plan.plan import EventSchema, Plan


@dataclass(frozen=True)
class TableEngine:
    """Runs a plan on a table; all but the local runner are handed it as a dataset."""

    execution: Execution
    order: OrderName
    max_matches: int
    memory: MemoryBudget
    schema: EventSchema

    def __call__(self, plan: Plan, events: pa.Table) -> pa.Table:
        from cepctl.engines.event.alternative import MatchOptions
        from cepctl.engines.runners import local
        from cepctl.plan.support import require_engine

        options = MatchOptions(self.order, self.schema.type_counts, self.max_matches, memory=self.memory)
        if self.execution.engine != "event" or self.execution.runner.on_spark:
            return self._run_as_dataset(plan, events, options)
        require_engine(plan, self.execution.engine)
        return local.run(plan, events, options)

    def _run_as_dataset(self, plan: Plan, events: pa.Table, options: MatchOptions) -> pa.Table:
        import pyarrow.parquet as pq

        from cepctl.datasets.marker import SUCCESS
        from cepctl.matching.inputs import open_events
        from cepctl.schema import META_TIME_UNIT

        metadata = {META_TIME_UNIT: str(self.schema.time_unit).encode()}
        with temporary_folder() as directory:
            pq.write_table(events.replace_schema_metadata(metadata), directory / "part-0.parquet")
            (directory / SUCCESS).touch()
            with open_events([str(directory)]) as inputs:
                return run_plan(plan, inputs, options, self.execution)
