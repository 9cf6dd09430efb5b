"""Few ticks that stand for all of a cell.

A function that is a polynomial on a cell is kept by its values at whole ticks that are spread like
Chebyshev's points (see `quadrature`), so that every number is that of a true assignment of ticks; where a
cell has few ticks each of them is a node.

Ticks inside a cell are offsets from its start.
"""

from __future__ import annotations

from cepctl.engines.confidence.quadrature import summation_rule, takes_every_tick
from cepctl.engines.kernels.kernel import inner


@inner
def node_count(ticks, degree):
    """How many ticks stand for `ticks` consecutive ones of a polynomial of at most this degree."""
    return ticks if takes_every_tick(ticks, degree) else degree + 1


@inner
def most_nodes(ticks, degree):
    """The largest `node_count` of at most this many ticks."""
    return min(ticks, max(degree + 2, (degree + 1) * (degree + 1) // 4))


@inner
def place_nodes(ticks, degree, nodes, weights):
    """Fill the offsets and summation weights of these nodes; returns their number."""
    if takes_every_tick(ticks, degree):
        for i in range(ticks):
            nodes[i] = i
            weights[i] = 1.0
        return ticks
    return summation_rule(ticks, degree, nodes, weights)
