"""`cepctl.explain`: how a query is understood and how it would run."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from cepctl.errors import QueryTooLargeError, UsageError
from cepctl.laws.choices import MOST_SETS_ALIVE
from cepctl.library.clock_evidence import recorded_files
from cepctl.library.events import paths_of
from cepctl.library.exclusions import asked_of, refuse_excluded, refuse_for_datasets
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.laws import LawChoice, LawFile
from cepctl.library.notices import tell_reading
from cepctl.library.options import EventOptions, raw_input, require_choice
from cepctl.library.query_text import query_text
from cepctl.library.raw_input import RawInput, given_ingest_options
from cepctl.library.sketch import read_by_sketches
from cepctl.plan.evaluation_order import ORDERS, OrderName
from cepctl.plan.support import engine_refusals
from cepctl.process.memory import MemoryBudget, budget_of, default_budget
from cepctl.render.counting import counted
from cepctl.schema import WRITER, WRITTEN_ORDERS
from cepctl.side_figures import INPUT_ERRORS, SideFigure, beside

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.engines.runners.forecast import StatedRange
    from cepctl.language.ast import Query
    from cepctl.library.events import Events
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan
    from cepctl.render.explain import ShownFacts


_WRITERS_NAMED = 4
_MOST_READ_FOR_RANGES = 2_000_000
"""Of more events no ranges are shown: all of them would have to be read."""


@dataclass(frozen=True, repr=False)
class Explanation:
    """A plan, and what is known beside it of the events; `str` puts it in words."""

    plan: Plan
    facts: ShownFacts

    def to_json(self) -> dict[str, Any]:
        """What `cepctl explain --format json` writes, as values that JSON has."""
        from cepctl.render.explain import plan_json

        return plan_json(self.plan, self.facts)

    def __repr__(self) -> str:
        from cepctl.render.explain import print_plan

        held = io.StringIO()
        print_plan(self.plan, self.facts, as_json=False, file=held)
        return held.getvalue().rstrip()


@errors_in_keywords
def explain(
    query: str | Path,
    events: Events | None = None,
    *,
    order: OrderName = "auto",
    laws: str | Path | None = None,
    no_laws: bool = False,
    law_limit: int = MOST_SETS_ALIVE,
    max_memory: str | None = None,
    **reading: Unpack[EventOptions],
) -> Explanation:
    """Say how a query would run; nothing is run.

    Parameters
    ----------
    query
        Its text, or the path of its file.
    events
        As `cepctl.match` takes them: attributes and types are checked against them, and counts are
        estimated; None for none.
    order
        The order of evaluation to explain.
    laws, no_laws, law_limit
        Under which laws of order, as `cepctl.match` has it.
    max_memory
        What a run may take, such as `2GB`; half of what the machine has, where it is None.
    reading
        How raw logs and tables are read, as `cepctl.match` has it.

    Raises
    ------
    CepctlError
        What the user can mend.

    Examples
    --------
    >>> print(explain("PATTERN SEQ(A a, B b)").plan.strategy.word)
    skip_till_any_match
    """
    from cepctl.language.parser import parse

    require_choice("order", order, ORDERS)
    if events is None and reading:
        raise UsageError(f"{next(iter(reading))} cannot apply without events: no log is read")
    under = LawChoice(None if laws is None else LawFile.read(laws), no_laws, law_limit=law_limit)
    refuse_excluded(asked_of(under))
    if events is None and under != LawChoice():
        raise UsageError("laws cannot apply without events: a law is about their order")
    memory = default_budget() if max_memory is None else budget_of(max_memory)
    parsed, choices = parse(query_text(query)), raw_input(reading)
    with ExitStack() as opened:
        paths = () if events is None else paths_of(events, opened)
        refuse_for_datasets(paths, reading)
        return explained(parsed, paths, order, memory, choices, under)


def explained(
    query: Query,
    paths: Sequence[str],
    order: OrderName,
    memory: MemoryBudget,
    choices: RawInput,
    under: LawChoice,
) -> Explanation:
    """Explain a query, for the events at some paths if there are any."""
    from cepctl.plan.analyze import analyze
    from cepctl.render.explain import ShownFacts

    if not paths:
        plan = analyze(query, None)
        return Explanation(plan, replace(ShownFacts(None, order), **_methods(plan)))
    from cepctl.matching.inputs import open_events

    with open_events(paths, given_ingest_options(choices), memory) as inputs:
        tell_reading(inputs.summary)
        plan, counts = analyze(query, under.applied(inputs.schema)), inputs.schema.type_counts
        read, sketch = read_by_sketches(plan, inputs)
        shown = partial(beside, passing=INPUT_ERRORS)
        slices = shown(SideFigure.SLICES, partial(_slices, plan, read), None)
        estimated = partial(_memory, plan, counts or {}, memory)
        room, room_figures = shown(SideFigure.MEMORY, estimated, (None, None))
        ties = shown(SideFigure.TIES, partial(_ties, plan, inputs), None)
        widest = partial(_orders, plan, inputs, under.law_limit)
        orders, order_figures = shown(SideFigure.ORDERS, widest, (None, None))
        ranges = shown(SideFigure.RANGES, partial(_ranges, plan, inputs), ())
        trial = partial(_forecast, plan, read, order, memory)
        said, figures = shown(SideFigure.FORECAST, trial, (None, None))
        facts = ShownFacts(
            *(counts, order, slices, room, room_figures, sketch, ties),
            *(orders, order_figures, said, figures, ranges),
        )
        return Explanation(plan, replace(facts, records=_records(plan, inputs), **_methods(plan)))


def _records(plan: Plan, inputs: EventInputs) -> tuple[str, ...]:
    """The files that the offsets of some of the clocks come from."""
    import pyarrow as pa

    from cepctl.clocks.checks.tables import OnClocks

    on_clocks = OnClocks.of(pa.array(list(plan.clocks), pa.string()))
    return tuple(recorded_files(inputs)) if on_clocks.recorded.any() else ()


def _methods(plan: Plan) -> dict[str, Any]:
    """By which methods matches of each reading, and keys, are measured; nothing where neither is."""
    if plan.never is not None or engine_refusals(plan, "event"):
        return {}
    from cepctl.engines.event.group_occurrences import key_methods_of
    from cepctl.engines.solve.stated import methods_of

    readings = [methods_of(plan, each) for each in plan.alternatives]
    return {"methods": readings, "key_methods": key_methods_of(plan)}


def _memory(plan: Plan, counts: Mapping[str, int], memory: MemoryBudget) -> tuple[str, Mapping[str, int]]:
    """What a run would take, in words and in numbers."""
    from cepctl.engines.runners.forecast import MemoryEstimate

    estimate = MemoryEstimate.of(plan, counts, memory)
    return estimate.text(), estimate.to_json()


def _ties(plan: Plan, inputs: EventInputs) -> str | None:
    """What is given makes of the events, which are read for it; None where nothing is."""
    if not plan.given or plan.never is not None or engine_refusals(plan, "event"):
        return None
    from cepctl.engines.runners.forecast import tie_counts
    from cepctl.matching.run import types_read

    table = inputs.read(plan.attributes, types_read(plan))
    found, by = tie_counts(plan, table), _writers(plan, table)
    if not found.ties:
        return f"none: the narrowed intervals imply all clauses{by}"
    largest = counted(found.largest, "event")
    return (
        f"{counted(found.ties, 'tie')} in {counted(found.components, 'component')}, the largest of "
        f"{largest}{by}"
    )


def _writers(plan: Plan, table: pa.Table) -> str:
    """Who wrote events whose order is given."""
    if all(each.text not in WRITTEN_ORDERS for each in plan.given):
        return ""
    names = sorted(filter(None, table.column(WRITER).unique().to_pylist()))
    more = f" and {len(names) - _WRITERS_NAMED:,} more" if len(names) > _WRITERS_NAMED else ""
    return f"; {counted(len(names), 'writer')}: {', '.join(names[:_WRITERS_NAMED])}{more}" if names else ""


def _orders(plan: Plan, inputs: EventInputs, limit: int) -> tuple[str | None, Mapping[str, Any] | None]:
    """What laws of order leave to be summed, in words and in numbers; None where none is asked."""
    if not plan.laws or plan.never is not None or engine_refusals(plan, "event"):
        return None, None
    from cepctl.engines.runners.forecast import open_orders

    found = open_orders(plan, inputs.read(plan.attributes), limit)
    if found.widest is None:
        return "all that the law says something of are certain", found.to_json()
    runs = f"{counted(found.runs, 'run')} of events in open order, {counted(found.events, 'event')} in all"
    alive = f"{found.sets:,.0f} sets alive in one cell of time, {limit:,} are allowed"
    sets = f"the widest of {found.widest}: {alive}"
    beyond = f"; {counted(found.beyond, 'run')} beyond" if found.beyond else ""
    return f"{runs}; {sets}{beyond}; {found.work:,.0f} sets to sum over", found.to_json()


def _ranges(plan: Plan, inputs: EventInputs) -> tuple[StatedRange, ...]:
    """By which differences pairs of AND are left out, derived from the shapes of the events; not for many."""
    asked = plan.minimum_confidence is not None and plan.group_by is None and plan.never is None
    paired = any(len(block) > 1 for each in plan.alternatives for block in each.positive_blocks)
    if not asked or not paired or plan.given or plan.clocks or engine_refusals(plan, "event"):
        return ()
    if sum((inputs.schema.type_counts or {}).values()) > _MOST_READ_FOR_RANGES:
        return ()
    from cepctl.engines.runners.forecast import stated_ranges
    from cepctl.matching.run import types_read

    return tuple(stated_ranges(plan, inputs.read(plan.attributes, types_read(plan))))


def _forecast(
    plan: Plan, inputs: EventInputs, order: OrderName, memory: MemoryBudget
) -> tuple[str | None, Mapping[str, int | float] | None]:
    """What a trial makes of the run, in words and in numbers; nothing where the engine does not run it."""
    if plan.never is not None or plan.given or plan.of_intervals or engine_refusals(plan, "event"):
        return None, None
    from cepctl.engines.event.options import MatchOptions
    from cepctl.engines.runners.forecast import MOST_READ, forecast
    from cepctl.render.explain import forecast_text

    options = MatchOptions(order, inputs.schema.type_counts, memory=memory)
    try:
        found = forecast(plan, inputs.sources(plan.attributes), options)
    except QueryTooLargeError as problem:
        return f"a trial with few events was refused: {problem}", None
    if found is None:
        return f"none: without WITHIN a trial would read all events, more than {MOST_READ:,}", None
    return forecast_text(found.to_json(), grouped=plan.group_by is not None), found.to_json()


def _slices(plan: Plan, inputs: EventInputs) -> str:
    """How Spark would split the events, with as many tasks at once as this machine has cores."""
    from cepctl.datasets.row_groups import row_groups
    from cepctl.engines.concurrency import usable_cores
    from cepctl.engines.runners.slices import choose_slicing

    cores = usable_cores()
    slicing = choose_slicing(row_groups(inputs.sources(plan.attributes)), plan, cores)
    return f"{slicing.text()} ({counted(cores, 'task')} at once)"
