"""Hosts whose clocks no constant offsets fit, by the orders that the dataset keeps, and what to ask of them.

Of each two hosts the pairs of events that are known to be ordered bound how far the clock of one is ahead of
the other's.  Where these bounds contradict each other along a cycle, a drift may still fit: `cepctl clocks
--reference` finds it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.clocks.hulls.bounds import DifferenceBounds, difference_bounds
from cepctl.clocks.hulls.pairs import HostEvents, host_events, ordered_pairs
from cepctl.inspection.clock_graph import ClockGraph, Contradiction, host_contradictions
from cepctl.inspection.clocks import SUCCESSES
from cepctl.language.printer import type_text
from cepctl.matching.inputs import EventInputs
from cepctl.plan.given import attribute_names, is_order, stated
from cepctl.uncertainty.recorded_offsets import RECORDED_NAME

_NODE = "node"
_MICROSECOND = 1_000
_NO_REFERENCE = -1


@dataclass(frozen=True)
class HullQuestion:
    """What `cepctl clocks` is asked of clocks that may drift: the host that is right, and known orders.

    The host is an empty text for the clock of events without one.
    """

    reference: str
    given: tuple[str, ...]


@dataclass(frozen=True)
class DriftingClocks:
    """Hosts whose clocks contradict each other, and what to ask; None where nothing does."""

    contradictions: tuple[Contradiction, ...] = ()
    question: HullQuestion | None = None


def drifting_clocks(inputs: EventInputs) -> DriftingClocks:
    """Compare the clocks of all hosts by the orders that the datasets keep.

    Raises
    ------
    QueryTooLargeError
        If the orders speak of too many combinations of events.
    """
    schema = inputs.schema
    # The order of a writer's own records says nothing of two clocks.
    orders = [stated(text, schema, schema.time_unit) for text in schema.without_order().given]
    orders = [each for each in orders if is_order(each)]
    # Events that a table of clocks has moved do not tell what was read.
    is_moved = any(re.match(RECORDED_NAME, name) for name in schema.clocks)
    if not orders or _NODE not in schema.attributes or is_moved:
        return DriftingClocks()
    table = inputs.read(sorted({_NODE, *attribute_names(orders) & schema.readable.keys()}))
    own = host_events(table, _NODE, schema.time_unit, schema.clocks, 0)
    _, pairs, _ = ordered_pairs(own, orders)
    bounds = difference_bounds(own, pairs, _NO_REFERENCE)
    found = host_contradictions(_by_hosts(bounds, own))
    if not found:
        return DriftingClocks()
    events = np.bincount(
        np.concatenate([own.host[pairs.first], own.host[pairs.second]]), minlength=len(own.hosts)
    )
    texts = tuple(each.text for each in orders)
    return DriftingClocks(found, HullQuestion(own.hosts[int(events.argmax())], texts))


def _by_hosts(bounds: DifferenceBounds, own: HostEvents) -> pl.DataFrame:
    """Of each host and another between how many microseconds it is ahead: null where nothing bounds it."""
    hosts = pl.Series(own.hosts, dtype=pl.String)
    links = pl.DataFrame(
        {
            "link": np.arange(len(bounds.host)),
            "host": hosts.gather(bounds.host),
            "other": hosts.gather(bounds.other),
        }
    )
    sides = (
        pl.DataFrame({"link": each.link, name: each.value}).group_by("link").agg(least)
        for each, name, least in (
            (bounds.lower, "lowest", pl.col("lowest").max() // _MICROSECOND),
            (bounds.upper, "highest", -(-pl.col("highest").min() // _MICROSECOND)),
        )
    )
    for side in sides:
        links = links.join(side, on="link", how="left")
    return links.filter(pl.col("other") < pl.col("host")).drop("link")


def question_of_attempts(graph: ClockGraph, events: pl.DataFrame) -> HullQuestion | None:
    """What to ask of nodes whose attempts contradict their tasks, which no node stamped.

    `events`: as `observed_events` returns them.
    """
    if not graph.contradictions:
        return None
    types = events.get_column("event_type").unique().sort().to_list()
    starts = [each for each in types if each.endswith("AttemptStart")]
    finishes = events.filter(pl.col("event_type").str.ends_with("AttemptFinish"))
    statuses = finishes.get_column("status").drop_nulls().unique().sort()
    successes = ", ".join(f"'{each}'" for each in statuses if each.upper() in SUCCESSES)
    successful = f" AND p.status IN ({successes})" if successes else ""
    begins = [f"SEQ(TaskStart p, {type_text(each)} q) IF p.task_id = q.task_id" for each in starts]
    ends = [
        f"SEQ({type_text(each)} p, TaskFinish q) IF p.task_id = q.task_id{successful}"
        for each in finishes.get_column("event_type").unique().sort()
    ]
    return HullQuestion("", (*begins, *ends))
