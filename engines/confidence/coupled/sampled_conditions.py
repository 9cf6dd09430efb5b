"""The coupled problems of each match side by side, in the form in which a sampled world is asked.

All problems of a match speak of the same world, so their events are numbered together: once each,
whether an event is a variable of one problem or a factor of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.confidence.coupled.problem import Factors, Problems, owned


class Conditions(NamedTuple):
    """Problems of k matches, as nested offsets: match i owns the problems and events of its span.

    `match` (k,): number of each match, ascending; `events`: row numbers, of each match in code-point
    order of their ids.  `variables` (v, 3): event, lower, upper; `edges` (d, 3): variables i and j and
    the bound of t_i - t_j, of each problem those in its row of `edge_spans`; `factors` (f, 3): event,
    first region, end of regions; `regions` (r, 3): inside, first bound, end of bounds; `bounds` (b, 3):
    is lower, variable, constant.  The event of a variable or factor is its place among its match's.
    """

    match: Indexes
    problem_offsets: Indexes
    event_offsets: Indexes
    events: Indexes
    variable_offsets: Indexes
    variables: Indexes
    edge_spans: Indexes
    edges: Indexes
    factor_offsets: Indexes
    factors: Indexes
    regions: Indexes
    bounds: Indexes


def conditions_of(parts: Sequence[Problems], id_rank: Indexes) -> Conditions:
    """Put the problems of several structures together, by match.

    `id_rank` gives the rank of every event's id, by row number.
    """
    parts = [each for each in parts if len(each.match)]
    joined = _joined(parts)
    match, owner = np.unique(joined.match, return_inverse=True)
    order = np.argsort(owner, kind="stable")
    problem_offsets = np.searchsorted(owner[order], np.arange(len(match) + 1))
    by_variable = np.repeat(owner, np.diff(joined.variable_offsets))
    by_factor = np.repeat(owner, np.diff(joined.factor_offsets))
    # One key per match and event, ascending by match and by id.
    rank = id_rank[np.concatenate([joined.variables[:, 0], joined.factors[:, 0]])]
    span = int(id_rank.max()) + 1
    key, place = np.unique(np.concatenate([by_variable, by_factor]) * span + rank, return_inverse=True)
    event_offsets = np.searchsorted(key, np.arange(len(match) + 1) * span)
    row_of_rank = np.zeros(span, dtype=np.int64)
    row_of_rank[id_rank] = np.arange(len(id_rank))
    joined.variables[:, 0] = place[: len(by_variable)] - event_offsets[by_variable]
    joined.factors[:, 0] = place[len(by_variable) :] - event_offsets[by_factor]
    variables, variable_offsets = owned(joined.variable_offsets, order)
    factors, factor_offsets = owned(joined.factor_offsets, order)
    return Conditions(
        match, problem_offsets, event_offsets, row_of_rank[key % span], variable_offsets,
        joined.variables[variables], joined.edge_spans[order], joined.edges, factor_offsets,
        joined.factors[factors], joined.regions, joined.bounds,
    )  # fmt: skip


@dataclass(frozen=True)
class _Joined:
    """The problems of all parts one after the other; fields as in Conditions, events by row number."""

    match: Indexes
    variable_offsets: Indexes
    variables: Indexes
    edge_spans: Indexes
    edges: Indexes
    factor_offsets: Indexes
    factors: Indexes
    regions: Indexes
    bounds: Indexes


def _joined(parts: Sequence[Problems]) -> _Joined:
    sizes = [each.variables.event.shape[1] for each in parts]
    counts = [len(each.match) for each in parts]
    edges = [np.array(each.structure.edges, dtype=np.int64).reshape(-1, 3) for each in parts]
    edge_ends = np.cumsum([len(each) for each in edges])
    spans = np.stack([edge_ends - [len(each) for each in edges], edge_ends], axis=1)
    region_offsets = _offsets([np.diff(each.factors.region_offsets) for each in parts])
    bound_offsets = _offsets([np.diff(each.factors.bound_offsets) for each in parts])
    return _Joined(
        np.concatenate([each.match for each in parts]),
        _offsets([np.repeat(sizes, counts)]),
        np.concatenate([np.stack(each.variables, axis=2).reshape(-1, 3) for each in parts]),
        np.repeat(spans, counts, axis=0),
        np.concatenate(edges),
        _offsets([np.diff(each.factors.offsets) for each in parts]),
        _with_spans(np.concatenate([each.factors.event for each in parts]), region_offsets),
        _with_spans(np.concatenate([each.factors.inside for each in parts]), bound_offsets),
        np.concatenate(
            [
                np.stack([each.factors.is_lower, each.factors.variable, each.factors.constant], axis=1)
                for each in parts
            ]
        ),
    )


def _bounds(factors: Factors) -> Indexes:
    return np.stack([factors.is_lower, factors.variable, factors.constant], axis=1)


def _with_spans(values: Indexes, offsets: Indexes) -> Indexes:
    """Values beside where what each owns begins and ends, shape (n, 3)."""
    return np.stack([values, offsets[:-1], offsets[1:]], axis=1)


def _offsets(sizes: Sequence[Indexes]) -> Indexes:
    return np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
