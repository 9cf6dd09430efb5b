"""What is measured at once: matches of one form, and the events that can break them.

The form alone says which methods may measure the matches.  A set meets what is around it with its first and
its last member.  A member that certainly comes after one and before another of its set adds a variable and no
condition, so that a set of 500 costs what its ends cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, TickSpans, single_events
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.needless_sums import alike_matches
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.confidence.sets_between import has_set_between
from cepctl.engines.pattern.blocks import BlockKind, BoundMatches, Rivals, Shape
from cepctl.engines.pattern.difference_constraints import possible
from cepctl.engines.pattern.total_orders import has_total_orders
from cepctl.numeric.arrays import Indexes, Ticks

if TYPE_CHECKING:
    from cepctl.engines.columns.ties import EventTies
    from cepctl.engines.confidence.coupled.problem import CoupledMatches, Problems, Tied
    from cepctl.engines.confidence.given.on_clocks import GivenOnClocks
    from cepctl.engines.confidence.intervals.search import IntervalSearch
    from cepctl.engines.confidence.points.confidences import RowsOf


class BoundMembers(NamedTuple):
    """Pairs of a match and an event that it binds in one place."""

    row: Indexes
    event: Indexes


@dataclass(frozen=True)
class Batch:
    """n matches of one form.

    `bound`: what each component binds; `rivals`: every event that may break a match.  `lasting`, where events
    last: what alternatives that all have to hold ask of starts and ends; they find the rivals themselves.
    `spans`: in which all that a match shows has to lie; then its time range means nothing.
    """

    measure: Measure
    bound: dict[int, Bindings]
    rivals: list[Rivals]
    lasting: tuple[IntervalSearch, ...] = ()
    spans: TickSpans | None = None

    def __len__(self) -> int:
        first = next(iter(self.bound.values()))
        return len(first.sizes if isinstance(first, Group) else first)

    @cached_property
    def form(self) -> Form:
        """What all of the matches have in common."""
        measure = self.measure
        return Form(
            measure.shape,
            any(len(each.row) for each in self.rivals),
            on_clocks=measure.depends.on_clocks,
            given=measure.depends.given or any(each.measure.given for each in self.lasting),
            lasting=bool(self.lasting),
            estimated=measure.sampling is not None,
            within=self.spans is not None,
            under_law=measure.depends.under_law,
        )

    def taken(self, rows: Indexes) -> Batch:
        """Some of the matches, by ascending rows."""
        if len(rows) == len(self):
            return self
        some = self.matches.taken(rows)
        return replace(self, bound=some.bound, rivals=some.rivals, spans=some.spans)

    @property
    def matches(self) -> BoundMatches:
        """The matches without how they are measured."""
        return BoundMatches(self.bound, self.rivals, self.spans)

    def placed(self, measure: Measure, matches: BoundMatches) -> Batch:
        """A simpler batch, of copies of the events or of some matches."""
        return Batch(measure, matches.bound, matches.rivals, spans=matches.spans)

    @cached_property
    def clocks(self) -> EventClocks:
        """The clocks of all events; of those without any the masses are the own parts."""
        return self.measure.depends.clocks or EventClocks.none(self.measure.masses)

    @property
    def ties(self) -> EventTies:
        """What is given of the events of a batch, of which something is."""
        ties = self.measure.depends.ties
        assert ties is not None
        return ties

    @property
    def tied(self) -> Callable[[Problems], Tied] | None:
        """Finds what is tied to the events of problems; None where nothing is given of any."""
        if not self.measure.depends.given:
            return None
        from cepctl.engines.confidence.given.groups import ties_of_problems, ties_of_wholes

        if self.form.on_clocks:
            return partial(ties_of_wholes, self.given_on_clocks)
        return partial(ties_of_problems, self.ties, self.measure.masses)

    @cached_property
    def given_on_clocks(self) -> GivenOnClocks:
        """What is given of events that share clocks."""
        from cepctl.engines.confidence.given.on_clocks import GivenOnClocks

        return GivenOnClocks.of(self.clocks, self.ties)

    @property
    def rows_of(self) -> RowsOf:
        """Makes rows of the problems of matches, as their events depend on each other."""
        if not self.form.tied:
            from cepctl.engines.confidence.clocks.unions import RowsOnClocks
            from cepctl.engines.confidence.occurrence.rows import Rows

            return partial(RowsOnClocks.on, self.clocks) if self.form.clocked else Rows.of
        from cepctl.engines.confidence.given.confidences import GivenRows
        from cepctl.engines.confidence.given.groups import GivenRowsOnClocks

        if self.form.clocked:
            return partial(GivenRowsOnClocks.beside, self.given_on_clocks)
        return partial(GivenRows.beside, self.ties, self.measure.affordable)

    @cached_property
    def groups(self) -> list[Group]:
        """Members of every block."""
        return self.measure.groups(self.bound)

    @property
    def coupled(self) -> CoupledMatches:
        """What their coupled problems are made of."""
        from cepctl.engines.confidence.coupled.problem import CoupledMatches

        return CoupledMatches(self.measure.shape, self.measure.masses, self.groups, self.rivals)

    @cached_property
    def events(self) -> Indexes:
        """The events of components that bind single ones, shape (n, l)."""
        return single_events([self.bound[i] for i in sorted(self.bound)])

    @property
    def binds_some_alone(self) -> bool:
        """Whether some component binds a single event."""
        return any(not isinstance(each, Group) for each in self.bound.values())

    @property
    def members(self) -> Iterator[BoundMembers]:
        """The members of each group, of sequences those of each place in it."""
        for block in self.measure.shape.blocks:
            for component in block.components:
                group = self.bound[component]
                if not isinstance(group, Group):
                    continue
                owner, begin = group.owner, group.offsets[:-1]
                if block.kind is not BlockKind.SEQUENCE:
                    yield BoundMembers(owner, group.members)
                    continue
                place = np.arange(len(owner)) - begin[owner]
                for each in range(int(group.sizes.max(initial=0))):
                    yield BoundMembers(owner[place == each], group.members[place == each])

    @cached_property
    def valid(self) -> tuple[Ticks, Ticks]:
        """The valid intervals of these events."""
        return self.measure.valid(self.events)

    @cached_property
    def deciding(self) -> list[Rivals]:
        """The rivals that can decide matches of single events."""
        from cepctl.engines.confidence.coupled.edges import deciding_in_chains

        return deciding_in_chains(self.rivals, self.measure.masses, self.measure.system, *self.valid)


def simplest(batch: Batch, measuring: Callable[[Batch], Measured]) -> Measured:
    """Measure matches of independent events: no chain that cannot happen, and those that are alike once."""
    if batch.form.plain or not (batch.form.independent and batch.binds_some_alone):
        return measuring(batch)
    if batch.measure.sifted or not batch.form.in_order:
        return _once(batch, measuring)
    rows = np.flatnonzero(possible(*batch.valid))
    if len(rows) == len(batch):
        return _once(batch, measuring)
    found = impossible(len(batch))
    if len(rows):
        found.put(rows, _once(batch.taken(rows), measuring))
    return found


def _once(batch: Batch, measuring: Callable[[Batch], Measured]) -> Measured:
    """Matches that are others moved in time are not measured again; each has worlds of its own if sampled."""
    measure = batch.measure
    if measure.sampling is not None or measure.shapes is None:
        return measuring(batch)
    first = alike_matches(batch.events, [*batch.members, *batch.rivals], measure.shapes)
    rows = np.flatnonzero(first == np.arange(len(first)))
    if len(rows) == len(batch):
        return measuring(batch)
    return measure.moved(measuring(batch.taken(rows)), rows, batch.events[:, 0], first)


def without_inner_members(batch: Batch) -> Batch:
    """The batch with sets of members that may be first or last; who could break them is found before."""
    shape = batch.measure.shape
    bound = dict(batch.bound)
    for block in shape.blocks:
        (component, *others) = block.components
        group = bound.get(component)
        if others or block.kind is not BlockKind.SET or not isinstance(group, Group):
            continue
        if any(component in (each.left, each.right) for each in shape.alternative.timings):
            continue
        bound[component] = _ends_of(group, batch.measure.masses)
    return replace(batch, bound=bound)


def _ends_of(group: Group, masses: Masses) -> Group:
    if group.sizes.max(initial=0) < 3:
        return group
    lower, upper, begin = masses.lower[group.members], masses.upper[group.members], group.offsets[:-1]
    first, last = np.minimum.reduceat(upper, begin), np.maximum.reduceat(lower, begin)
    inner = (lower > first[group.owner]) & (upper < last[group.owner])
    if not inner.any():
        return group
    kept = np.bincount(group.owner[~inner], minlength=len(begin))
    return Group(np.concatenate([[0], np.cumsum(kept)]).astype(np.int64), group.members[~inner])


@dataclass(frozen=True)
class Form:
    """A shape, and how its events depend on each other.

    `rivals`: some events may break matches; `on_clocks`: events may share clocks; `given`: something is
    given of them; `lasting`: some last, or their ends are asked for; `counted`: a row stands for all sets of
    a group; `estimated`: a confidence that costs too much may be an estimate; `within`: each match has to
    lie within a span of ticks; `under_law`: laws of order weigh the orders of some events.
    """

    shape: Shape
    rivals: bool
    on_clocks: bool = False
    given: bool = False
    lasting: bool = False
    counted: bool = False
    estimated: bool = False
    within: bool = False
    under_law: bool = False

    @property
    def tied(self) -> bool:
        """Whether something is given of points."""
        return self.given and not self.lasting

    @property
    def clocked(self) -> bool:
        """Whether points share clocks."""
        return self.on_clocks and not self.lasting

    @property
    def sampled(self) -> bool:
        """Whether worlds of points that depend on each other, in one way alone, may be sampled."""
        return self.estimated and self.tied != self.clocked

    @property
    def independent(self) -> bool:
        """Whether each event is a point, independent of all others."""
        return not (self.on_clocks or self.given or self.lasting or self.within or self.under_law)

    @property
    def cut(self) -> bool:
        """Whether each event is such a point, and matches have to lie within spans."""
        return self.within and not (self.on_clocks or self.given or self.lasting or self.under_law)

    @property
    def in_order(self) -> bool:
        """Whether order and window, and rivals if there are any, are all that decides single events."""
        return self.independent and self.shape.only_single

    @property
    def three_in_order(self) -> bool:
        """Whether these are all that decides three events."""
        return self.in_order and len(self.shape.blocks) == 3

    @property
    def plain(self) -> bool:
        """Whether order and window alone decide points, all shown, however these depend on each other."""
        hides = self.shape.hides_ends
        return self.shape.plain_chain and not (self.rivals or self.lasting or self.within or hides)

    @property
    def in_each_order(self) -> bool:
        """Whether matches are single events and AND groups, each by its name, that only their order ties."""
        return self.independent and has_total_orders(self.shape)

    @property
    def set_between(self) -> bool:
        """Whether matches are a set between two events, decided by order and window alone."""
        return self.independent and has_set_between(self.shape) and not self.rivals
