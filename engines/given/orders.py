"""The same problems with their variables in another order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.confidence.coupled.problem import (
    NO_VARIABLE,
    Problems,
    Structure,
    Variables,
    breakpoints,
)


def reordered(problems: Problems, order: Indexes) -> Problems:
    """Problems whose variable k is the one that was `order[k]`."""
    count = len(order)
    if (order == np.arange(count)).all():
        return problems
    new = np.argsort(order)
    structure = problems.structure
    edges = tuple((int(new[i]), int(new[j]), c) for i, j, c in structure.edges)
    regions = tuple(
        tuple(
            bound if bound.variable == NO_VARIABLE else replace(bound, variable=int(new[bound.variable]))
            for bound in region
        )
        for region in structure.regions
    )
    system = np.ascontiguousarray(structure.system[np.ix_(order, order)])
    place = np.append(new, NO_VARIABLE)
    return Problems(
        Structure(system, edges, regions, breakpoints(count, edges, system, regions)),
        problems.match,
        Variables(*(np.ascontiguousarray(each[:, order]) for each in problems.variables)),
        problems.factors._replace(variable=place[problems.factors.variable]),
    )
