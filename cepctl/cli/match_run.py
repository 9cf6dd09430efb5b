"""How a plan is run: by which engine, by which runner, and which of its matches are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

from cepctl.cli.notices import say
from cepctl.cli.options import RunnerChoice
from cepctl.errors import UnsupportedQueryError, UsageError
from cepctl.plan.support import Engine

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.dataset import EventInputs
    from cepctl.engines.alternative import MatchOptions
    from cepctl.engines.progress import Progress
    from cepctl.language.ast import Query
    from cepctl.plan.plan import Plan


@dataclass(frozen=True)
class Execution:
    """Which engine runs a plan, and where; changes no row."""

    engine: Engine
    where: RunnerChoice
    verbose: bool


def analyzed(query: Query, inputs: EventInputs, min_confidence: float | None, *, quiet: bool) -> Plan:
    """The plan of a query, after its warnings have been said."""
    from cepctl.plan import analyze

    plan = analyze(query, inputs.schema)
    if min_confidence is not None:
        plan = replace(plan, minimum_confidence=max(min_confidence, plan.minimum_confidence or 0.0))
    if not quiet:
        for warning in plan.warnings:
            say("warning", warning)
        if plan.never is not None:
            say("note", f"the query can never match: {plan.never}")
    return plan


def run_plan(
    plan: Plan, inputs: EventInputs, wanted: MatchOptions, how: Execution, progress: Progress | None = None
) -> pa.Table:
    """The matches of a plan, in their one order; the event engine tells `progress` what it does.

    Raises
    ------
    UnsupportedQueryError
        If the engine does not run the plan.
    QueryTooLargeError
        If there are too many matches, or one is too large to be measured.
    """
    import pyarrow as pa

    from cepctl.plan.plan import CONFIDENCE_ERROR
    from cepctl.plan.support import require_engine

    require_engine(plan, how.engine)
    if wanted.kleene == "summary":
        _require_summary(plan, wanted, how)
    matches = _found(plan, inputs, wanted, how, progress)
    if wanted.approximate is None or CONFIDENCE_ERROR in matches.column_names:
        return matches
    # An engine that estimates nothing.
    errors = pa.array([0.0] * matches.num_rows, pa.float64())
    return matches.add_column(matches.column_names.index("confidence") + 1, CONFIDENCE_ERROR, errors)


def _require_summary(plan: Plan, wanted: MatchOptions, how: Execution) -> None:
    from cepctl.plan.summary import require_summary

    require_summary(plan)
    if how.engine == "point":
        raise UnsupportedQueryError(
            "--kleene summary in the point engine; --engine event and --engine worlds run it"
        )
    if wanted.approximate is not None:
        raise UsageError("--kleene summary is exact; leave out --approximate")


def _found(
    plan: Plan, inputs: EventInputs, wanted: MatchOptions, how: Execution, progress: Progress | None
) -> pa.Table:
    if how.engine == "worlds":
        return _run_worlds(plan, inputs, wanted)
    if how.engine == "point":
        return _run_point(plan, inputs, wanted)
    if how.where.runner == "spark":
        return _run_spark(plan, inputs, wanted, how, progress)
    from cepctl.engines import local

    return local.run_stored(plan, inputs.sources(plan.attributes), wanted, progress)


def _run_worlds(plan: Plan, inputs: EventInputs, wanted: MatchOptions) -> pa.Table:
    from cepctl.engines.results import ordered
    from cepctl.engines.worlds import match_table
    from cepctl.engines.worlds_summary import summary_table

    table = summary_table if wanted.kleene == "summary" else match_table
    return ordered(table(plan, inputs.read(plan.attributes, types_read(plan))), wanted.top)


def _run_point(plan: Plan, inputs: EventInputs, wanted: MatchOptions) -> pa.Table:
    from cepctl.engines.point import match_table
    from cepctl.engines.results import ordered

    found = match_table(plan, inputs.read(plan.attributes, types_read(plan)), wanted)
    return ordered(found, wanted.top)


def _run_spark(
    plan: Plan, inputs: EventInputs, wanted: MatchOptions, how: Execution, progress: Progress | None
) -> pa.Table:
    from cepctl.session import spark_session

    # Java takes seconds to start, and this process has nothing else to do meanwhile.
    Thread(target=import_module, args=("cepctl.engines.spark",)).start()
    with spark_session(how.where.master, how.where.conf, verbose=how.verbose) as session:
        from cepctl.engines import spark

        return spark.run(plan, inputs.sources(plan.attributes), session, wanted, progress=progress)


def types_read(plan: Plan) -> set[str] | None:
    """Event types that can matter to a plan; None for all."""
    from cepctl.language.ast import Strategy

    components = [each for alternative in plan.alternatives for each in alternative.components]
    contiguous = plan.strategy in (Strategy.STRICT_CONTIGUITY, Strategy.PARTITION_CONTIGUITY)
    if contiguous or not all(component.event_types for component in components):
        return None
    return {name for component in components for name in component.event_types}


def sampling_note(matches: pa.Table) -> str | None:
    """How many confidences were estimated and how far they can be trusted; None if all are exact."""
    import pyarrow.compute as pc

    from cepctl.plan.plan import CONFIDENCE_ERROR

    if CONFIDENCE_ERROR not in matches.column_names:
        return None
    errors = matches.column(CONFIDENCE_ERROR)
    sampled, error = pc.sum(pc.greater(errors, 0)).as_py(), pc.max(errors).as_py()
    if not sampled:
        return None
    from cepctl.engines.sampling import FAILURE_PROBABILITY, sample_size

    return (
        f"{sampled:,} of {matches.num_rows:,} confidences are estimates from {sample_size(error):,} sampled "
        f"worlds each, off by more than {error:g} with a probability of at most {FAILURE_PROBABILITY:g}"
    )


def starting_between(matches: pa.Table, plan: Plan, since: int | None, until: int | None) -> pa.Table:
    """Keep the matches whose `start` lies between two instants (microseconds since 1970), both included."""
    import pyarrow.compute as pc

    for instant, compare, rounding in (
        (since, pc.greater_equal, plan.time_unit.microseconds - 1),
        (until, pc.less_equal, 0),
    ):
        if instant is not None:
            # A tick that begins before `since` is not later than it.
            tick = (instant + rounding) // plan.time_unit.microseconds
            matches = matches.filter(compare(matches.column("start"), tick))
    return matches
