"""Clocks of events in chunks: between the interval of an event and its own part, and what a dataset has.

A chunk holds the name of each event's clock and the offset of that clock, as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

import numpy as np
import pyarrow as pa

from cepctl.clocks.shared import Offset, parse_offset, rescaled_clocks, two_offsets
from cepctl.clocks.ties import Clocks, ClockTie, chains_of, tied, ties_of
from cepctl.errors import EventSchemaError
from cepctl.ingestion.chunks import RAW_CLOCK, RAW_OFFSET
from cepctl.io.contract.clock_offsets import shifted, shifted_by_offsets
from cepctl.schema import TimeUnit
from cepctl.uncertainty.clock_rules import ClockRule
from cepctl.uncertainty.model import Rule
from cepctl.uncertainty.recorded_offsets import RecordedOffset
from cepctl.uncertainty.stamping import Stamped, Unstamped

_MOST_HOSTS = 5


def brings_clocks(table: pa.Table, rules: Sequence[Rule] = ()) -> bool:
    """Whether some event of a chunk has a clock, or some rule may give it one."""
    column = table.column(RAW_CLOCK)
    return column.null_count < len(column) or any(rule.clock is not None for rule in rules)


def brought_clocks(table: pa.Table) -> Stamped:
    """The clocks that the events of a chunk have."""
    clock, offset = (table.column(name).combine_chunks() for name in (RAW_CLOCK, RAW_OFFSET))
    return Stamped(clock, offset, np.zeros(len(table), dtype=np.int64))


def own_parts(table: pa.Table) -> pa.Table:
    """A chunk whose intervals are those of own parts: without the offsets of the clocks."""
    return shifted_by_offsets(table, table.column(RAW_OFFSET), away=True)


def with_clocks(table: pa.Table, clocks: Stamped) -> pa.Table:
    """A chunk whose intervals are own parts, with these clocks: they then hold all possible ticks."""
    for name, values in ((RAW_CLOCK, clocks.clock), (RAW_OFFSET, clocks.offset)):
        table = table.set_column(table.column_names.index(name), table.schema.field(name), values)
    return shifted_by_offsets(shifted(table, clocks.moved), table.column(RAW_OFFSET), away=False)


def clocks_in(table: pa.Table) -> dict[str, Offset]:
    """The clocks of a chunk.

    Raises
    ------
    EventSchemaError
        If a clock has two offsets.
    """
    column = table.column(RAW_CLOCK)
    if column.null_count == len(column):
        return {}
    pairs = table.select([RAW_CLOCK, RAW_OFFSET]).unify_dictionaries()
    pairs = pairs.group_by([RAW_CLOCK, RAW_OFFSET]).aggregate([])
    found: dict[str, Offset] = {}
    for name, text in zip(pairs.column(0).to_pylist(), pairs.column(1).to_pylist(), strict=True):
        offset = None if name is None else parse_offset(text)
        if offset is not None and found.setdefault(name, offset) != offset:
            raise EventSchemaError(two_offsets(name, found[name], offset))
    return found


def with_ties(
    clocks: Clocks, rules: Iterable[Rule], brought: Sequence[tuple[Clocks, TimeUnit]], unit: TimeUnit
) -> Clocks:
    """The clocks that stamped events, and all that are tied to these, by rules or as a dataset brought them.

    Raises
    ------
    EventSchemaError
        If two of these tie a clock to different ones.
    """
    tying = [rescaled_clocks(each, own, unit) for each, own in brought if ties_of(each)]
    for rule in rules:
        if rule.clock is not None and isinstance(rule.clock.offset, RecordedOffset):
            tying.append(rule.clock.offset.tied_clocks(rule.clock.by or "", unit))
    found, ties = dict(clocks), list[ClockTie]()
    for each in tying:
        kept = chains_of(each, clocks)
        found = {**kept, **found}
        ties += ties_of(kept)
    return tied(found, ties)


def unstamped_notes(passed: Mapping[tuple[int, Unstamped], int], rules: Iterable[Rule]) -> dict[str, int]:
    """Notes, each completed with its number, for rules that pass over events whose clock they cannot tell."""
    clocks = {rule.number: rule.clock for rule in rules if rule.clock is not None}
    return {
        # A brace in a name is no place for the number.
        f"events that rule {number} passes over, since {_why(clocks[number], why)}".replace(
            "{", "{{"
        ).replace("}", "}}")
        + ": {:,}": count
        for (number, why), count in passed.items()
    }


def _why(clock: ClockRule, why: Unstamped) -> str:
    if why is Unstamped.NO_VALUE or not isinstance(clock.offset, RecordedOffset):
        return f"they have no '{clock.by}' to tell their clock by"
    records = clock.offset.records
    file = PurePath(records.file).name
    if why is Unstamped.NO_PIECE:
        return f"{file} has nothing of their '{clock.by}' at their time"
    hosts, more = ", ".join(records.hosts[:_MOST_HOSTS]), len(records.hosts) - _MOST_HOSTS
    return f"{file} does not have their '{clock.by}' (it has {hosts}{f' and {more:,} more' * (more > 0)})"
