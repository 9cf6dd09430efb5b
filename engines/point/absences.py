"""Absences over point events: the points that must not happen if a combination is to be a match.

Negation, the rivals of skip_till_next_match and the strangers of contiguity all say the same: no
other event of some kind has its tick strictly between two ticks of the combination.  Events are
independent, so the probability is a product over these events of the mass that is left to them
when their forbidden points are taken away.  A point that several gaps forbid is taken away once.

    name here       meaning
    Gap             no other event that fits lies after `after` and before `before`
    Forbidden       pairs of a combination and a point that breaks it
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.joins import JoinKey, join_key, partition_codes
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.predicates import links_hold
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.point.combinations import EVER, Combinations, PointSearch, timing_holds
from cepctl.engines.point.stream import PointIndex, PointStream, point_index
from cepctl.language.strategies import Absent
from cepctl.numeric.arrays import Indexes, Reals, Ticks
from cepctl.numeric.precision import SMALLEST
from cepctl.plan.plan import Link, Scope, Timing


@dataclass(frozen=True)
class Gap:
    """One rule of absence between columns of a combination.

    `after` and `before` are the columns whose ticks it lies between, both excluded; none for a
    leading or trailing negation, which reaches as far as the window.  `key` is None where the codes
    of the points are `codes`, per event, and have to be those of the first bound event.
    """

    after: tuple[int, ...]
    before: tuple[int, ...]
    index: PointIndex
    component: int | None = None
    key: JoinKey | None = None
    codes: Indexes | None = None
    links: tuple[Link, ...] = ()
    timings: tuple[Timing, ...] = ()


@dataclass(frozen=True)
class Forbidden:
    """Pairs: in the combination `row` the point `point` of the stream must not happen."""

    row: Indexes
    point: Indexes


def gaps_of(search: PointSearch) -> tuple[Gap, ...]:
    """The rules of absence of an alternative."""
    alternative = search.alternative
    gaps = [_negation(search, i) for i, each in enumerate(alternative.components) if each.negated]
    gaps += _rivals(search)
    return tuple(gaps)


def _negation(search: PointSearch, component: int) -> Gap:
    alternative = search.alternative
    place = next(n for n, block in enumerate(alternative.blocks) if component in block)
    key = join_key(
        alternative, search.plan.partition_by, search.events, component, set(alternative.positive),
        search.candidates[component],
    )  # fmt: skip
    columns = range(len(alternative.positive))
    return Gap(
        tuple(c for c in columns if search.block_of[c] < place),
        tuple(c for c in columns if search.block_of[c] > place),
        point_index(search.stream, search.candidates[component], key.candidate_codes),
        component,
        key,
        links=_event_links(search, component),
        timings=tuple(each for each in alternative.timings if component in (each.left, each.right)),
    )


def _rivals(search: PointSearch) -> list[Gap]:
    match search.plan.strategy.absent:
        case Absent.NOTHING:
            return []
        case Absent.NEARER:
            return [_next_match(search, column) for column in range(1, len(search.alternative.positive))]
        case Absent.OTHERS:
            return _contiguity(search)


def _next_match(search: PointSearch, column: int) -> Gap:
    """Rivals are joined like the component itself: they fit it, given the components before."""
    step = search.steps[column]
    return Gap((column - 1,), (column,), step.index, step.component, step.key, links=step.links)


def _contiguity(search: PointSearch) -> list[Gap]:
    codes = np.zeros(len(search.events), dtype=np.int64)
    if search.plan.strategy.by_key:
        codes = partition_codes(search.plan.partition_by, search.events)
    index = point_index(search.stream, np.arange(len(search.events)), codes)
    columns = range(1, len(search.alternative.positive))
    return [Gap((column - 1,), (column,), index, codes=codes) for column in columns]


def _event_links(search: PointSearch, component: int) -> tuple[Link, ...]:
    links = search.alternative.links
    return tuple(link for link in links if link.decides == component and link.scope is Scope.EVENT)


def reached(search: PointSearch, gap: Gap, rows: Combinations) -> tuple[Indexes, Indexes]:
    """Where in the gap's index the points inside it begin and end, per row."""
    first, last = _ends(search, gap, rows)
    if gap.key is None:
        assert gap.codes is not None
        code = gap.codes[rows.event[:, 0]]
    else:
        code = gap.key.codes_of(rows.event, search.alternative.positive)
    return gap.index.between(code, first, last)


def _ends(search: PointSearch, gap: Gap, rows: Combinations) -> tuple[Ticks, Ticks]:
    """The first and the last tick inside a gap, per row."""
    window = search.plan.window
    first, last = np.full(len(rows), EVER.min), np.full(len(rows), EVER.max)
    if gap.after:
        first = shifted(rows.tick[:, gap.after].max(axis=1), 1)
    elif window is not None:
        first = shifted(rows.tick.max(axis=1), 1 - window)
    if gap.before:
        last = shifted(rows.tick[:, gap.before].min(axis=1), -1)
    elif window is not None:
        last = shifted(rows.tick.min(axis=1), window - 1)
    return first, last


def forbidden(search: PointSearch, gap: Gap, rows: Combinations, begin: Indexes, end: Indexes) -> Forbidden:
    """The points inside a gap that do fit; `begin` and `end` as `reached` gives them."""
    row, within = places_in_runs(end - begin)
    point = gap.index.point[begin[row] + within]
    event, tick = search.stream.event[point], search.stream.tick[point]
    keep = (rows.event[row] != event[:, None]).all(axis=1)
    positive = search.alternative.positive
    if gap.component is not None and gap.timings:
        ticks = {i: rows.tick[row, c] for c, i in enumerate(positive)} | {gap.component: tick}
        for timing in gap.timings:
            keep &= timing_holds(timing, ticks)
    if gap.component is not None and gap.links:
        bound = {i: rows.event[row, c] for c, i in enumerate(positive)} | {gap.component: event}
        held = links_hold(search.events, search.alternative, gap.links, bound)
        assert held is not None
        keep &= held
    return Forbidden(row[keep], point[keep])


def probability_of_absence(stream: PointStream, pairs: Forbidden, count: int) -> Reals:
    """Probability, for each of `count` combinations, that none of its forbidden points happens.

    0 where an event has no other point; else positive.

    Examples
    --------
    An event at one of three ticks, two of which are forbidden in combination 1:

    >>> event = np.zeros(3, dtype=np.int64)
    >>> stream = PointStream(np.array([0, 3]), np.arange(3), event, np.full(3, 1 / 3))
    >>> pairs = Forbidden(np.array([1, 1, 1]), np.array([0, 2, 0]))
    >>> probability_of_absence(stream, pairs, 2).round(3).tolist()
    [1.0, 0.333]
    """
    result = np.ones(count)
    if not len(pairs.row):
        return result
    distinct = np.unique(pairs.row * len(stream.tick) + pairs.point)
    row, point = np.divmod(distinct, len(stream.tick))
    event = stream.event[point]
    # Points are numbered event by event: those of one combination and event stand together.
    begin = np.flatnonzero(np.concatenate([[True], (row[1:] != row[:-1]) | (event[1:] != event[:-1])]))
    taken = np.diff(np.concatenate([begin, [len(row)]]))
    owned = np.diff(stream.starts)[event[begin]]
    left = np.maximum(1.0 - np.add.reduceat(stream.mass[point], begin), SMALLEST)
    np.multiply.at(result, row[begin], np.where(taken == owned, 0.0, left))
    return result
