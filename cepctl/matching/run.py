"""How a plan is run: by which engine, by which runner, and which of its matches are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from cepctl.errors import UnsupportedQueryError
from cepctl.laws.choices import LAWLESS
from cepctl.matching.execution import AUTO, Execution

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.engines.event.options import MatchOptions
    from cepctl.engines.rows.groups import FoundRows
    from cepctl.engines.rows.kept import RowCounts
    from cepctl.engines.rows.numbers import FoundBatch
    from cepctl.engines.runners.progress import RunProgress
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan


def find_rows(
    plan: Plan,
    inputs: EventInputs,
    wanted: MatchOptions,
    execution: Execution,
    folder: Path,
    progress: RunProgress | None = None,
    *,
    shared: bool = False,
) -> FoundRows:
    """The matches of a plan; the event engine tells `progress` what it does.

    Rows beyond memory go to `folder`; `shared`: the workers of a cluster see it.

    Raises
    ------
    UnsupportedQueryError
        If the engine does not run the plan.
    QueryTooLargeError
        If there are too many matches, or one is too large to be measured.
    """
    from cepctl.engines.event.match import schema_for
    from cepctl.engines.rows.groups import FirstRows, GroupRows
    from cepctl.engines.rows.sorted import SortedRows
    from cepctl.plan.grouping import refuse_groups
    from cepctl.plan.support import require_engine

    require_engine(plan, execution.engine)
    if execution.runner.runner == AUTO:
        execution = replace(execution, runner=execution.runner.for_events(inputs.count_held()))
    if wanted.kleene == "summary":
        _require_summary(plan, wanted, execution)
    if execution.engine != "event":
        # The others judge no match by raw times, and the point engine knows of no end of the events.
        observed = None if execution.engine == "point" else wanted.observed
        wanted = replace(wanted, raw_times=False, observed=observed)
    rows: FoundRows = SortedRows(
        schema_for(plan, wanted), wanted.wanted, wanted.memory, folder, shared=shared
    )
    if plan.group_by is not None:
        if wanted.kleene == "summary":
            refuse_groups(plan.query, "--kleene summary")
        rows = GroupRows(schema_for(plan, wanted), len(plan.group_by), wanted.top)
    if wanted.exists:
        rows = FirstRows(plan, wanted.wanted)
    if execution.engine != "event":
        _find_by_another_engine(plan, inputs, wanted, execution, rows)
    else:
        _find_by_runner(plan, inputs, wanted, execution, rows, progress)
    return rows


def rows_as_found(
    plan: Plan, inputs: EventInputs, wanted: MatchOptions, execution: Execution, progress: RunProgress
) -> Iterator[FoundBatch]:
    """The matches of a plan in no particular order, each as soon as it is found, by the local runner.

    Raises
    ------
    UnsupportedQueryError
        If the event engine does not run the plan.
    QueryTooLargeError
        If there are too many matches, or one is too large to be measured.
    """
    from cepctl.engines.runners import local
    from cepctl.plan.support import require_engine

    require_engine(plan, "event")
    if wanted.kleene == "summary":
        _require_summary(plan, wanted, execution)
    for batch in local.found_in_stored(plan, inputs.sources(plan.attributes), wanted, progress):
        progress.found += batch.num_rows
        yield wanted.wanted.of(batch)


def _require_summary(plan: Plan, wanted: MatchOptions, execution: Execution) -> None:
    from cepctl.plan.given import refuse_given
    from cepctl.plan.laws import refuse_laws
    from cepctl.plan.summary import require_summary
    from cepctl.plan.support import refuse_clocks

    require_summary(plan)
    refuse_given(plan, "--kleene summary")
    refuse_laws(plan, "--kleene summary")
    refuse_clocks(plan, "--kleene summary")
    if execution.engine == "point":
        raise UnsupportedQueryError(
            "--kleene summary in the point engine; --engine event and --engine worlds run it"
        )


def _find_by_another_engine(
    plan: Plan, inputs: EventInputs, wanted: MatchOptions, execution: Execution, rows: FoundRows
) -> None:
    table = inputs.read(plan.attributes, types_read(plan))
    if execution.engine == "point":
        from cepctl.engines.point import engine as point

        found = point.match_table(plan, table, wanted)
    else:
        from cepctl.engines.worlds import groups

        if wanted.closed and plan.group_by is not None:
            raise UnsupportedQueryError(
                "--closed under GROUP BY in the worlds engine; --engine event runs it"
            )
        lawless = LAWLESS in wanted.columns_of_law(plan)
        if plan.group_by is not None:
            found = groups.group_table(plan, table, wanted.kept, lawless=lawless)
        else:
            found = (
                groups.summary_table(plan, table)
                if wanted.kleene == "summary"
                else _judged(plan, table, wanted, lawless=lawless)
            )
            wanted.check_count(found.num_rows)
    for batch in found.to_batches():
        rows.add(batch)


def _judged(plan: Plan, table: pa.Table, wanted: MatchOptions, *, lawless: bool) -> pa.Table:
    """The rows of the worlds engine, with what they say of the end of the events."""
    import pyarrow.compute as pc

    from cepctl.engines.event.open_rows import tells_open
    from cepctl.engines.worlds import engine as worlds
    from cepctl.plan.open_rows import OPEN

    observed = wanted.observed if tells_open(plan, wanted) else None
    found = worlds.match_table(plan, table, lawless=lawless, observed=observed)
    return found.filter(pc.invert(found.column(OPEN))) if wanted.closed and observed is not None else found


def _find_by_runner(
    plan: Plan,
    inputs: EventInputs,
    wanted: MatchOptions,
    execution: Execution,
    rows: FoundRows,
    progress: RunProgress | None,
) -> None:
    if execution.runner.on_spark:
        # Java takes seconds to start, and this process has nothing else to do meanwhile.
        Thread(target=import_module, args=("cepctl.engines.runners.stored",)).start()
    with execution.runner.opened(verbose=execution.verbose) as runner:
        from cepctl.engines.runners.stored import collect

        collect(plan, inputs.sources(plan.attributes), runner, rows, wanted, progress=progress)


def types_read(plan: Plan) -> set[str] | None:
    """Event types that can matter to a plan; None for all."""
    alternatives = (*plan.alternatives, *(each.alternative for each in plan.given))
    components = [each for alternative in alternatives for each in alternative.components]
    if plan.strategy.asks_all or plan.laws or not all(component.event_types for component in components):
        return None
    return {name for component in components for name in component.event_types}


def sampling_note(counts: RowCounts, *, grouped: bool = False) -> str | None:
    """How many probabilities were estimated and how far they can be trusted; None if all are exact."""
    if not counts.sampled:
        return None
    from cepctl.engines.confidence.coupled.sampling import FAILURE_PROBABILITY, sample_size

    if grouped:
        return (
            f"{counts.sampled:,} of {counts.rows:,} occurrences are estimates, off by more than their error, "
            f"at most {counts.error:g}, with a probability of at most {FAILURE_PROBABILITY:g}"
        )
    return (
        f"{counts.sampled:,} of {counts.rows:,} confidences are estimates from {sample_size(counts.error):,} "
        f"sampled worlds each, off by more than {counts.error:g} with a probability of at most "
        f"{FAILURE_PROBABILITY:g}"
    )


def ticks_between(plan: Plan, since: int | None, until: int | None) -> tuple[int | None, int | None]:
    """The first and the last tick between two instants (nanoseconds since 1970), both included.

    They saturate at 64 bits, beyond all that events have.
    """
    from cepctl.schema import TICK_MAX, TICK_MIN

    unit = plan.time_unit.nanoseconds
    # A tick that begins before `since` is not later than it.
    first = None if since is None else max(TICK_MIN, min(TICK_MAX, -(-since // unit)))
    return first, None if until is None else max(TICK_MIN, min(TICK_MAX, until // unit))
