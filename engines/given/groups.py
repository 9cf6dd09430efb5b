"""Groups of matches some of whose events are tied: what each row asks for, and what is given, together.

Some row of a group holds and all components that any of them touches do: that is a union of rows, each of
which asks for the ties of all these components, too.  Divided by the probability of the components it is the
occurrence.

Runs inside Spark workers: imports NumPy and Polars only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import Problems, owned
from cepctl.engines.given.components import component_probability
from cepctl.engines.given.tied_problems import touched
from cepctl.engines.given.work import require_few


@dataclass(frozen=True)
class GroupComponents:
    """The components that the rows of groups touch: pairs of a group and a component, by group."""

    group: Indexes
    component: Indexes

    @classmethod
    def of(cls, problems: Sequence[Problems], ties: EventTies) -> GroupComponents:
        """`match` of the problems is their group."""
        none = np.zeros(0, dtype=np.int64)
        groups, components = [none], [none]
        for each in problems:
            touching = touched(each, ties)
            groups.append(each.match[touching.problem])
            components.append(touching.pieces.component)
        pairs = np.unique(np.stack([np.concatenate(groups), np.concatenate(components)], axis=1), axis=0)
        require_few(ties.sizes[pairs[:, 1]])
        return cls(np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]))

    def probability(self, ties: EventTies, masses: Masses, count: int) -> Reals:
        """Of `count` groups the probability that the ties of their components hold."""
        product = np.ones(count)
        np.multiply.at(product, self.group, component_probability(ties, masses, self.component))
        return product

    def ties_of(self, problems: Problems, ties: EventTies) -> tuple[Indexes, Indexes, Indexes, Ticks]:
        """The ties of each problem's group: problem, left and right event, and bound."""
        begin = np.searchsorted(self.group, problems.match)
        sizes = np.searchsorted(self.group, problems.match, side="right") - begin
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        pair = np.repeat(begin - offsets[:-1], sizes) + np.arange(offsets[-1])
        at, tie_offsets = owned(ties.tie_offsets, self.component[pair])
        problem = np.repeat(np.repeat(np.arange(len(sizes)), sizes), np.diff(tie_offsets))
        return problem, ties.left[at], ties.right[at], ties.bound[at]
