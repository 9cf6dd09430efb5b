"""Which events can be members of a Kleene group, for bindings of the other components."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.join_keys import join_key, partition_codes
from cepctl.engines.columns.range_join import interval_index, overlapping
from cepctl.engines.enumeration.reach import reach
from cepctl.engines.enumeration.search import Search
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.rival_joins import some_event
from cepctl.engines.pattern.rivals import link_holds_for_pairs
from cepctl.plan.plan import Scope


def group_candidates(
    search: Search, shape: Shape, events: Events, rows: Indexes, bound: dict[int, Bindings], component: int
) -> tuple[Indexes, Indexes]:
    """Pairs (row, event): events that fit and that some tick of the row leaves room for.

    Parameters
    ----------
    search, shape, events
        The alternative, prepared, and the events.
    rows
        Partial matches as `cepctl.engines.enumeration.search.enumeration_parts` yields them, shape (n, l).
    bound
        The same by component, with the groups that are bound already.
    component
        The Kleene component that is to be bound.

    Returns
    -------
    Two arrays of one length; the rows ascend, the events of a row come in the order of their ids.
    """
    known = [i for i, each in bound.items() if not isinstance(each, Group)]
    row, found = _in_reach(search, shape, events, rows, known, component)
    fresh = (rows[row] != found[:, None]).all(axis=1)
    for each in bound.values():
        if isinstance(each, Group):
            fresh &= ~np.isin(row * len(events) + found, each.owner * len(events) + each.members)
    if bound and not known and search.partition_by:
        keys = partition_codes(search.partition_by, events)
        fresh &= keys[found] == keys[some_event(bound)][row]
    row, found = row[fresh], found[fresh]
    for link in shape.alternative.links:
        negated = shape.alternative.components[link.decides].negated
        decidable = component in link.components and set(link.components) <= {*bound, component}
        if link.scope is Scope.EVENT and decidable and not negated and len(link.components) > 1:
            keep = link_holds_for_pairs(shape.alternative, events, link, component, bound, row, found)
            row, found = row[keep], found[keep]
    order = np.lexsort((events.id_rank[found], row))
    return row[order], found[order]


def _in_reach(
    search: Search, shape: Shape, events: Events, rows: Indexes, known: list[int], component: int
) -> tuple[Indexes, Indexes]:
    """Pairs with equal keys whose interval reaches between the events that are bound."""
    event = search.candidates[component]
    key = join_key(shape.alternative, search.partition_by, events, component, set(known), event)
    usable = key.candidate_codes >= 0
    event = event[usable]
    codes = key.codes_of(rows, search.singles) if known else np.zeros(len(rows), dtype=np.int64)
    index = interval_index(
        event, key.candidate_codes[usable], events.masses.lower[event], events.masses.upper[event]
    )
    columns = tuple(search.singles.index(i) for i in known)
    first, last = reach(events.masses, search.system, rows, columns, search.singles.index(component))
    parts = list(overlapping(index, codes, first, last))
    row = np.concatenate([np.zeros(0, np.int64), *(part[0] for part in parts)])
    return row, np.concatenate([np.zeros(0, np.int64), *(part[1] for part in parts)])
