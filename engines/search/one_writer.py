"""Events that one writer wrote stand in a known order: they are searched as if each had one tick.

Their earliest ticks are a world that satisfies what is given, and in it they stand in the order that they
have in every such world.  So two events are found in order there just where they always are, and a rival lies
between them there just where it always does; groups hold there what they always do.  How far apart they are
is not the same in every world: what a pattern asks of that is asked less of them by the widest interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.columns.bindings import Bindings, count_of, take_matches
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.pattern.blocks import AbsenceRule, Shape, groups_of
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.pattern.rivals import certainly_broken, rivals_of, spans_of
from cepctl.engines.search.narrowed_joins import certain_gaps
from cepctl.engines.search.search import Search
from cepctl.numeric.arrays import Ticks
from cepctl.plan.plan import Given, Plan
from cepctl.schema import IN_WRITTEN_ORDER, RECORD, WRITER

_AT_ONCE = 4_096


@dataclass(frozen=True)
class InOrder:
    """A search among events at their earliest ticks; `plan` and `search` ask less of how far apart they are.

    `shape`: what the order alone can break.
    """

    plan: Plan
    shape: Shape
    search: Search
    events: Events

    @property
    def has_groups(self) -> bool:
        """Whether some component binds several events."""
        return any(each.kleene for each in self.shape.alternative.components)

    def unbroken(self, bound: dict[int, Bindings]) -> Iterator[dict[int, Bindings]]:
        """The matches that no other event of the order breaks, some at a time."""
        count = count_of(bound.values())
        for begin in range(0, count, _AT_ONCE):
            yield from self._unbroken(take_matches(bound, np.arange(begin, min(begin + _AT_ONCE, count))))

    def _unbroken(self, bound: dict[int, Bindings]) -> Iterator[dict[int, Bindings]]:
        masses, keys = self.events.masses, (self.search.candidates, self.plan.partition_by)
        spans = spans_of(masses, groups_of(self.shape, bound))
        rivals = rivals_of(self.shape, self.events, *keys, bound, spans)
        left = np.flatnonzero(~certainly_broken(rivals, masses, spans, bound))
        if len(left):
            yield take_matches(bound, left)


def in_known_order(plan: Plan, shape: Shape, search: Search, events: Events) -> InOrder | None:
    """The search among events that one writer wrote; None where there are others, or times end groups."""
    if not _order_ends_groups(plan, shape):
        return None
    earliest = at_earliest_ticks(plan.given, events)
    if earliest is None:
        return None
    gaps = certain_gaps(shape, earliest, search.candidates, plan.partition_by)
    looser = replace(search, system=loosened(search.system, events.masses), gaps=gaps)
    window = None if plan.window is None else plan.window + _widest(events.masses)
    rules = tuple(rule for rule in shape.rules if _of_order(rule))
    return InOrder(replace(plan, window=window), replace(shape, rules=rules, together=()), looser, earliest)


def _order_ends_groups(plan: Plan, shape: Shape) -> bool:
    """Whether groups, if there are any, hold all that stands between their ends, and no window ends one."""
    components, strategy = shape.alternative.components, plan.strategy
    groups = [i for block in shape.blocks for i in block.components if components[i].kleene]
    last = set(groups) & set(shape.blocks[-1].components)
    return not groups or (
        strategy.whole_groups and not any(components[i].fills_window(strategy) for i in last)
    )


def _of_order(rule: AbsenceRule) -> bool:
    """Whether a rule speaks of what comes before and after events of a match, and of no distance to them."""
    ends = [end for region in rule.regions for end in region]
    return all(end.point is not None and abs(end.constant) <= 1 for end in ends)


def at_earliest_ticks(given: Sequence[Given], events: Events) -> Events | None:
    """The events at the earliest tick of each; None unless one writer wrote all, one record each."""
    if events.ties is None or all(clause.text != IN_WRITTEN_ORDER for clause in given):
        return None
    if events.depends.on_clocks or events.ends is not None:
        return None
    record = events.frame.get_column(RECORD)
    if (events.codes_of(WRITER) != 0).any() or record.null_count():
        return None
    lower = events.masses.lower
    in_order = lower[np.argsort(record.to_numpy(), kind="stable")]
    if (np.diff(in_order) <= 0).any():
        return None
    masses = Masses(lower, lower, np.arange(len(lower) + 1), lower, lower, np.ones(len(lower)))
    return replace(events, masses=masses)


def loosened(system: Ticks, masses: Masses) -> Ticks:
    """What a pattern asks of how far apart events are, asked of their earliest ticks.

    Of t_i - t_j <= c with c < 0 the order is kept.

    >>> three = np.array([0, 5, 9])
    >>> masses = Masses(three, three + 4, np.arange(4), three, three + 4, np.full(3, 0.2))
    >>> loosened(np.array([[0, -1], [7, 0]]), masses).tolist()
    [[0, -1], [11, 0]]
    """
    widest = _widest(masses)
    bounded = system < UNBOUNDED - widest
    looser = np.where(bounded, system + np.where(bounded, widest, 0), UNBOUNDED)
    found = np.where(system < 0, np.minimum(looser, -1), looser)
    np.fill_diagonal(found, np.diag(system))
    return found


def _widest(masses: Masses) -> int:
    return int((masses.upper - masses.lower).max(initial=0))
