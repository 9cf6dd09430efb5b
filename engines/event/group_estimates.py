"""Occurrences that cost too much to be exact, where an error is allowed: close bounds, else sampled worlds.

Where bounds that are certain (`engines/confidence/occurrence/pair_bounds.py`) are close, their middle is
the answer and half their distance its error.  Else worlds are sampled: where less than one row is expected
those in which some row holds, which makes the error as much smaller, else any, as for a confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.coupled.sampling import Sampling
from cepctl.engines.confidence.occurrence.rare_unions import rare_unions
from cepctl.numeric.arrays import Indexes, Reals


@dataclass(frozen=True)
class Estimates:
    """Probabilities and how far they can be off, shape (n,)."""

    probability: Reals
    error: Reals


@dataclass(frozen=True)
class RowProblems:
    """What the rows of some groups ask for: `match` is the number of a row, those of a group together.

    `sizes`: how many rows each group has; `confidence`: of each row.
    """

    problems: Sequence[Problems]
    sizes: Indexes
    confidence: Reals


def estimated(
    sampling: Sampling,
    problems: Sequence[Problems],
    groups: Indexes,
    least: Reals,
    most: Reals,
    by_row: Callable[[Indexes], RowProblems],
) -> Estimates:
    """Estimate the probability that some problem of each group holds.

    Parameters
    ----------
    sampling
        The error allowed, and the events.
    problems
        Those of all groups; `match` is the number of a group.
    groups
        Which are estimated, ascending, shape (n,).
    least, most
        Certain bounds of each, shape (n,).
    by_row
        What the rows of some of these groups ask for, by their places in `groups`.
    """
    probability, error = (least + most) / 2, (most - least) / 2
    far = np.flatnonzero(error > sampling.error)
    rare = far[most[far] < 1.0]
    if len(rare) and sampling.events.independent:
        rows = by_row(rare)
        own = [part for each in problems if len((part := _of_groups(each, groups[rare])).match)]
        seeds = sampling.seeds([_events_of(own, len(rare), sampling)], np.arange(len(rare)))
        found = rare_unions(sampling, rows.problems, rows.sizes, rows.confidence, seeds)
        known = ~np.isnan(found)
        expected = np.add.reduceat(rows.confidence, np.cumsum(rows.sizes) - rows.sizes)
        probability[rare[known]], error[rare[known]] = found[known], (expected * sampling.error)[known]
        far = np.setdiff1d(far, rare[known])
    if len(far):
        own = [part for each in problems if len((part := _of_groups(each, groups[far])).match)]
        sampled, estimate = sampling.probabilities([_events_of(own, len(far), sampling)], own)
        probability[far[sampled]] = estimate
        error[far] = sampling.error
    return Estimates(np.clip(probability, least, most), error)


def _of_groups(problems: Problems, groups: Indexes) -> Problems:
    """The problems of some groups, these numbered from 0."""
    place = np.searchsorted(groups, problems.match)
    rows = np.flatnonzero(groups[np.minimum(place, len(groups) - 1)] == problems.match)
    return replace(problems.taken(rows), match=place[rows])


def _events_of(problems: Sequence[Problems], groups: int, sampling: Sampling) -> Group:
    """The events that matches of each group bind, once each by the order of ids: what seeds its worlds."""
    rank = sampling.events.id_rank
    owner = np.concatenate([np.repeat(each.match, each.variables.event.shape[1]) for each in problems])
    event = np.concatenate([each.variables.event.reshape(-1) for each in problems])
    order = np.lexsort((rank[event], owner))
    owner, event = owner[order], event[order]
    fresh = np.ones(len(owner), dtype=bool)
    fresh[1:] = (owner[1:] != owner[:-1]) | (event[1:] != event[:-1])
    return Group(np.searchsorted(owner[fresh], np.arange(groups + 1)).astype(np.int64), event[fresh])
