"""`cepctl.follows`: which types directly follow which in a case, under uncertain times."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from difflib import get_close_matches
from typing import TYPE_CHECKING, Unpack

from cepctl.errors import EventSchemaError, UnsupportedQueryError
from cepctl.library.assumed_order import without_assumed_order
from cepctl.library.events import paths_of
from cepctl.library.exclusions import refuse_for_datasets
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.notices import tell_reading
from cepctl.library.options import EventOptions, raw_input
from cepctl.library.raw_input import RawInput, given_ingest_options
from cepctl.notices import READING, tell
from cepctl.process.memory import MemoryBudget, budget_of, default_budget
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.inspection.follows.graph import FollowsGraph
    from cepctl.library.events import Events
    from cepctl.matching.inputs import EventInputs

CASE = "case_id"
_COPIES = 4
"""Events are held as they are read, as masses, in order and as clusters."""


@errors_in_keywords
def follows(
    events: Events,
    *,
    by: str | Sequence[str] = CASE,
    no_given: bool = False,
    no_laws: bool = False,
    max_memory: str | None = None,
    **reading: Unpack[EventOptions],
) -> FollowsGraph:
    """Count how often events of one type directly follow those of another in a case.

    Parameters
    ----------
    events
        As `cepctl.match` takes them.
    by
        The attribute, or attributes, that name the case of an event; an event without it is left out.
    no_given
        Leave out what the datasets say that every world satisfies.
    no_laws
        Leave out the laws of order of the datasets.
    max_memory
        Take at most so much memory, such as `2GB`; half of what the machine has, where it is None.
    reading
        How raw logs and tables are read, as `cepctl.match` has it.

    Returns
    -------
    FollowsGraph
        Its `rows` are a frame of Polars: `a`, `b`, the `least`, `expected` and `greatest` number of times.

    Raises
    ------
    CepctlError
        What the user can mend.

    Examples
    --------
    >>> import pyarrow as pa
    >>> events = pa.table({"event_type": ["A", "B"], "case_id": [7, 7], "lower": [1, 3], "upper": [4, 6]})
    >>> follows(events).rows.select("a", "b", "expected").rows()
    [('A', 'B', 0.8125), ('B', 'A', 0.0625)]
    """
    names = [by] if isinstance(by, str) else list(by)
    choices = raw_input(reading)
    with ExitStack() as opened:
        paths = paths_of(events, opened)
        refuse_for_datasets(paths, reading)
        memory = default_budget() if max_memory is None else budget_of(max_memory)
        return followed(paths, names, choices, memory, no_given=no_given, no_laws=no_laws)


def followed(
    paths: Sequence[str],
    by: Sequence[str],
    choices: RawInput,
    memory: MemoryBudget,
    *,
    no_given: bool,
    no_laws: bool,
) -> FollowsGraph:
    """The graph of events at some paths; logs the notes on reading them."""
    from cepctl.matching.inputs import open_events

    with open_events(paths, given_ingest_options(choices), memory) as opened:
        tell_reading(opened.summary)
        inputs = without_assumed_order(opened, "follows")
        _refuse(inputs, by, no_given=no_given, no_laws=no_laws)
        inputs.require_room(by, _COPIES, memory, "follows")
        return _graph(inputs, by)


def _refuse(inputs: EventInputs, by: Sequence[str], *, no_given: bool, no_laws: bool) -> None:
    known = inputs.schema.attributes
    for name in by:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"attributes: {', '.join(known) or 'none'}"
            raise EventSchemaError(
                f"--by {name}: no event has this attribute; name the one that tells cases apart ({hint})"
            )
    if inputs.schema.clocks:
        raise UnsupportedQueryError(
            "follows of events that share clocks is not supported, since it assumes that each errs alone; "
            "cepctl assign gives them intervals of their own"
        )
    if inputs.schema.given and not no_given:
        raise UnsupportedQueryError(
            "follows with [[given]] of the dataset is not supported; --no-given leaves that out"
        )
    if inputs.schema.laws and not no_laws:
        raise UnsupportedQueryError(
            "follows under [[law]] of the dataset is not supported; --no-laws leaves that out"
        )


def _graph(inputs: EventInputs, by: Sequence[str]) -> FollowsGraph:
    import polars as pl
    import pyarrow as pa

    from cepctl.engines.columns.masses import masses_of
    from cepctl.inspection.follows.graph import follows_graph

    table = inputs.read(list(by))
    frame = pl.from_arrow(pa.table({name: table.column(name) for name in ("event_type", *by)}))
    assert isinstance(frame, pl.DataFrame)
    whole = frame.select(pl.all_horizontal(pl.col(name).is_not_null() for name in by)).to_series()
    if not whole.all():
        left_out = len(whole) - int(whole.sum())
        tell(READING, "note", f"left out {counted(left_out, 'event')} without {', '.join(by)}")
        table, frame = table.filter(whole.to_arrow()), frame.filter(whole)
    if inputs.schema.lasting:
        tell(READING, "note", "interval events count at their starts")
    names = sorted(set(frame["event_type"].to_list()))
    codes = {name: code for code, name in enumerate(names)}
    kind = frame["event_type"].replace_strict(codes, return_dtype=pl.Int64).to_numpy()
    case = frame.select(pl.struct(list(by)).rank("dense")).to_series().cast(pl.Int64).to_numpy()
    return follows_graph(case, kind, names, masses_of(table))
