"""Steps of a density over several gaps, of which some rivals must stay out altogether.

Of events at s < t_1 < t_2 ... < u, a rival x that must stay out of all gaps between s and u, but may be at
the ticks of some events between, leaves

    1 - P(s < t_x < u) + sum over these events, of P(t_x = t_m)

and the last terms are constant where each t_m stays in one part.  So a step from s to u is a sum over parts
of the events between.  For each of these it is built event by event: the matrix that leads to one event times
that of the single gap to the next, then what the rivals leave that stay out of all gaps up to there.

    name here      meaning
    tied           rivals that stay out of several gaps, all from the first event of a step on
    level          how many events after the first one
    apart          how many ticks lie between two
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.confidence.gaps.carried_steps import fill_single, keep_out, lagrange, share
from cepctl.engines.confidence.quadrature import most_nodes, node_count, place_nodes
from cepctl.engines.kernels.kernel import inlined, inner

FOR_EACH_PART = 200.0
"""Products that take as long as what is done for a part, besides those of its nodes."""


@inner
def fill_step(chain, step, singles, parts, source, lowest, found):
    """Add what the nodes of one part count for those of it and of later ones, from part `lowest` on.

    Row i of `found` is for node places[lowest] + i.
    """
    kept, places = chain.kept, parts.places
    begin, length = kept.ends[step], kept.ends[step + 1] - kept.ends[step]
    width, most = places[source + 1] - places[source], np.diff(places).max()
    at, block = np.full(length + 1, source), np.empty((length + 1, most, width))
    between = np.zeros((length + 2, len(chain.nothing)))
    level, at[1] = 1, source - 1
    while level > 0:
        at[level] += 1
        p = at[level]
        if p == len(parts.cell):
            level -= 1
            continue
        rows, cell = places[p + 1] - places[p], parts.cell[p]
        if chain.density[begin + level, cell] == 0.0 or not rows or (level == length and p < lowest):
            continue
        here = block[level, :rows]
        _lead_to(chain, step, singles, parts, at, level, between[level], block, here)
        if not _any(here):
            continue
        if level == length:
            first = places[p] - places[lowest]
            found[first : first + rows] += here
            continue
        for r in range(kept.ties[step], kept.ties[step + 1]):
            between[level + 1, r] = between[level, r]
            if not kept.never_at[r] >> (begin + level) & 1:
                between[level + 1, r] += chain.slope[r, cell]
        level += 1
        at[level] = p - 1


@inlined
def _lead_to(chain, step, singles, parts, at, level, between, block, here):
    """Fill the matrix that leads to one event of a step."""
    kept, source, p, before = chain.kept, at[0], at[level], at[level - 1]
    begin = kept.ends[step]
    gap = begin + level - 1
    if level == 1:
        here[:] = _single(chain, singles, gap, parts, before, p)
    elif p == source:
        here[:] = 0.0
        _fill_own_of(chain, step, begin + level, parts, p, here)
    else:
        rows = parts.places[before + 1] - parts.places[before]
        density = chain.density[gap, parts.cell[before]]
        _multiply(_single(chain, singles, gap, parts, before, p), block[level - 1, :rows], density, here)
        first_tied, end = kept.ties[step], kept.ties[step + 1]
        keep_out(chain, first_tied, end, begin + level, between, parts, source, p, here)


@inner
def _any(block):
    """Whether some value is not zero."""
    for row in block:
        for each in row:
            if each != 0.0:
                return True
    return False


@inner
def _single(chain, singles, gap, parts, p, q):
    """The matrix of a single gap."""
    if parts.whole[p] and parts.whole[q]:
        first, source, target = singles.first, parts.cell[p], parts.cell[q]
        rows, columns = slice(first[target], first[target + 1]), slice(first[source], first[source + 1])
        return singles.matrix[gap, rows, columns]
    places = parts.places
    block = np.zeros((places[q + 1] - places[q], places[p + 1] - places[p]))
    fill_single(chain, gap, parts, p, q, block)
    return block


@inner
def _multiply(one, other, factor, product):
    for i in range(len(one)):
        for k in range(product.shape[1]):
            product[i, k] = 0.0
        for j in range(len(other)):
            each = one[i, j] * factor
            if each != 0.0:
                for k in range(product.shape[1]):
                    product[i, k] += each * other[j, k]


@inner
def _fill_own_of(chain, step, last, parts, p, block):
    """What the nodes of a part count for its later ones, from the first event of a step to a later one."""
    cell, begin = parts.cell[p], parts.begin[p]
    node = parts.node[parts.places[p] : parts.places[p + 1]]
    ticks = node[-1] + 1 - begin
    apart, worth = _worth_apart(chain, step, last, cell, max(ticks - 1, 0))
    room = most_nodes(ticks, chain.degree[cell]) + 1
    place, weight = np.empty(room, dtype=np.int64), np.empty(room)
    shares, shares_apart = lagrange(node), lagrange(apart)
    for t in range(len(node)):
        some = place_nodes(node[t] - begin, chain.degree[cell], place, weight)
        for k in range(some):
            at = begin + place[k]
            each = _value(apart, shares_apart, worth, node[t] - 1 - at)
            share(node, shares, at, weight[k] * each, block[t])


@inner
def _worth_apart(chain, step, last, cell, ticks):
    """What two ticks of a cell are worth, by how many lie between: at nodes of fewer than `ticks`."""
    kept, degree = chain.kept, chain.degree[cell]
    first, count = kept.ends[step], node_count(ticks, degree)
    apart, unused = np.empty(count, dtype=np.int64), np.empty(count)
    place_nodes(ticks, degree, apart, unused)
    worth, shares = np.empty(count), lagrange(apart)
    for k in range(count):
        worth[k] = _left_apart(chain, first, cell, apart[k])
    room = most_nodes(ticks, degree) + 1
    place, weight = np.empty(room, dtype=np.int64), np.empty(room)
    for event in range(first + 1, last):
        longer = np.zeros(count)
        for k in range(count):
            for m in range(place_nodes(apart[k], degree, place, weight)):
                behind = _left_apart(chain, event, cell, apart[k] - 1 - place[m])
                longer[k] += weight[m] * behind * _value(apart, shares, worth, place[m])
            longer[k] *= chain.density[event, cell]
            for r in range(kept.ties[step], kept.ties[step + 1]):
                if kept.last[r] == event + 1:
                    inside = apart[k] + kept.closed[r]
                    for between in range(first + 1, event + 1):
                        inside -= 1 - (kept.never_at[r] >> between & 1)
                    longer[k] *= 1.0 - chain.slope[r, cell] * inside
        worth = longer
    return apart, worth


@inner
def _left_apart(chain, gap, cell, apart):
    """What the rivals of a single gap leave whose ends lie so far apart in a cell."""
    left = 1.0
    for r in range(chain.kept.offsets[gap], chain.kept.offsets[gap + 1]):
        left *= 1.0 - chain.slope[r, cell] * (apart + chain.kept.closed[r])
    return left


@inner
def _value(node, weights, values, at):
    """The value at a tick of the polynomial through the nodes."""
    total = above = 0.0
    for j in range(len(node)):
        if node[j] == at:
            return values[j]
        each = weights[j] / (at - node[j])
        total += each
        above += each * values[j]
    return above / total


@inner
def work_of_steps(chain, parts, step):
    """How many products a step over several gaps takes from one node of each cell, about."""
    found = np.zeros(len(parts.cell))
    for c in range(len(found)):
        if chain.density[chain.kept.ends[step], c] > 0.0:
            found[c] = _work_from(chain, np.diff(parts.places), step, c)
    return found


@inner
def _work_from(chain, nodes, step, source):
    kept = chain.kept
    begin, total = kept.ends[step], 0.0
    ways = np.zeros(len(nodes))
    ways[source] = 1.0
    for level in range(1, kept.ends[step + 1] - begin + 1):
        tied = 1.0
        for r in range(kept.ties[step], kept.ties[step + 1]):
            tied += kept.last[r] == begin + level
        further, products, so_far = np.zeros(len(nodes)), 0.0, 0.0
        for c in range(source, len(nodes)):
            so_far += ways[c]
            products += ways[c] * nodes[c] if level > 1 else 0.0
            if chain.density[begin + level, c] > 0.0:
                further[c] = so_far
                total += nodes[c] * (products + so_far * tied) + so_far * FOR_EACH_PART
        ways = further
    return total
