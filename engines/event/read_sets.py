"""A group without order that the component behind it reads, under next match: `c.x < max(b[].x)`.

The group is the set of all events that fit it before the first event that fits what follows.  Whether a rival
of that one fits depends on who of the group is before it.  Of maxima, minima and single members that are read
single members tell it:

    a condition        lets an event fit once one of these came    and until one of these has come
    c.x < max(b[].x)   members with a greater x                    -
    c.x > max(b[].x)   members whose x is known                    members with no smaller x
    c.x > b[i].x       any                                         members with no smaller x

So the members are bound one by one, as those of AND are, and a rival must not lie after a member that lets it
fit, before each that forbids it, and before the event that is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch, count_of, single_events, take_matches
from cepctl.engines.columns.predicates import group_link_holds
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.run_alternative import RunAlternative, kinds_of
from cepctl.engines.event.run_takers import joined
from cepctl.engines.pattern.blocks import AbsenceRule, Point, Region, RegionEnd
from cepctl.engines.pattern.rivals import RivalJoin, Rivals
from cepctl.engines.search.search import FEWEST_COSTLY_STARTS, enumeration_parts
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.methods import measure
from cepctl.plan.plan import Link
from cepctl.plan.read_sets import extreme_of, lets_one

_Pairs = dict[AbsenceRule, list[tuple[Indexes, Indexes]]]


@dataclass(frozen=True)
class ReadSetAlternative(RunAlternative):
    """Sets of some sizes, by component; `listing` lists sets of any."""

    listing: PreparedAlternative = field(kw_only=True)
    sizes: Mapping[int, int] = field(kw_only=True)

    def parts(self, owned: tuple[int, int] | None) -> list[Callable[[], Iterator[MatchBatch]]]:
        """Independent parts of its matches."""
        search, components = self.listing.search, self.listing.alternative.components
        order = tuple(at for at, i in enumerate(search.singles) if not components[i].kleene)
        found = enumeration_parts(search, self.events, order, owned, fewest=FEWEST_COSTLY_STARTS)
        return [partial(self._of_size, part, owned) for part in found]

    def _of_size(
        self, rows: Callable[[], Iterator[Indexes]], owned: tuple[int, int] | None
    ) -> Iterator[MatchBatch]:
        for some in rows():
            for bound in self.listing.with_groups(some):
                own = self.one_by_one(bound)
                if count_of(own.values()):
                    yield self.measured(own, owned)

    def one_by_one(self, bound: Mapping[int, Bindings]) -> dict[int, Bindings]:
        """Those of some matches that have groups of these sizes, as this binds them."""
        groups = {i: each for i, each in bound.items() if isinstance(each, Group)}
        keep = np.all([groups[i].sizes == size for i, size in self.sizes.items()], axis=0)
        rows, columns = np.flatnonzero(keep), list[Indexes]()
        for i, each in bound.items():
            if isinstance(each, Group):
                columns += list(each.take(rows).members.reshape(len(rows), self.sizes[i]).T)
            else:
                columns.append(each[rows])
        return dict(zip(self.search.singles, columns, strict=True))

    def may_take(self, bound: dict[int, Bindings]) -> bool:
        """Whether conditions let these events be a match, which reasons against them say."""
        return True

    def rivals(self, bound: dict[int, Bindings], joins: Sequence[RivalJoin] | None = None) -> list[Rivals]:
        """Who could break these matches, each where it must not lie."""
        events = single_events([bound[i] for i in self.search.singles])
        of_takers = {place: i for i, place in self.form_of.rivals.items()}
        found: _Pairs = {}
        for each in PreparedAlternative.rivals(self, bound, joins):
            place = each.rule.component
            assert place is not None
            component = of_takers.get(place, self.form_of.origin[place])
            group = self._group_before(component) if place in of_takers else None
            if group is None:
                count = self._taken_before(component) if place in of_takers else events.shape[1]
                fits = self.conditions.fit(component, events, count, each.row, each.event)
                found.setdefault(each.rule, []).append((each.row[fits], each.event[fits]))
            else:
                for rule, row, event in self._of_reading(component, group, each, events):
                    found.setdefault(rule, []).append((row, event))
        return joined(found)

    def _taken_before(self, component: int) -> int:
        """How many events are taken before those of a component."""
        return sum(i < component for i in self.form_of.taken)

    def _group_before(self, component: int) -> int | None:
        """The set that is still taking while a component may."""
        order = self.form_of.reading.positive
        place = order.index(component)
        is_alone = component not in self.sizes
        return order[place - 1] if is_alone and place and order[place - 1] in self.sizes else None

    def _of_reading(
        self, component: int, group: int, rivals: Rivals, events: Indexes
    ) -> Iterator[tuple[AbsenceRule, Indexes, Indexes]]:
        """Rivals of what follows a set, by which of its members let them fit."""
        reading, row, event = self.form_of.reading, rivals.row, rivals.event
        own = [link for link in reading.links if link.decides == component]
        slots = [at for at, i in enumerate(self.form_of.taken) if i == group]
        plain = [link for link in own if group not in link.components]
        keep = self._hold(plain, events, row, event, component, None)
        row, event = row[keep], event[keep]
        lets: list[Flags] = []
        forbids = np.zeros((len(row), len(slots)), dtype=bool)
        for link in (link for link in own if group in link.components):
            let, forbid = self._asked(link, component, group, slots, events, row, event)
            forbids |= forbid
            if let is not None:
                lets.append(let)
        bits = np.concatenate([forbids, *lets], axis=1)
        kinds, kind = np.unique(bits, axis=0, return_inverse=True)
        for number, each in enumerate(kinds):
            rule = self._rule(rivals.rule, group, each.reshape(-1, len(slots)))
            if rule.regions:
                pairs = np.flatnonzero(kind.reshape(-1) == number)
                yield rule, row[pairs], event[pairs]

    def _asked(
        self, link: Link, component: int, group: int, slots: Sequence[int], events: Indexes, row: Indexes,
        event: Indexes,
    ) -> tuple[Flags | None, Flags]:  # fmt: skip
        """Which members let each event fit, None for any, and which forbid it; shape (pairs, members)."""
        holds = np.stack(
            [self._hold([link], events, row, event, component, (group, at)) for at in slots], axis=1
        )
        aggregate = extreme_of(link)
        if aggregate is None:
            return None, ~holds
        assert aggregate.name is not None
        known = self.events.frame.get_column(aggregate.name).is_not_null().to_numpy()
        known = known[events[row][:, list(slots)]]
        return (holds, np.zeros_like(holds)) if lets_one(link) else (known, known & ~holds)

    def _hold(
        self, links: Sequence[Link], events: Indexes, row: Indexes, event: Indexes, component: int,
        member: tuple[int, int] | None,
    ) -> Flags:  # fmt: skip
        """Whether links hold for pairs of a match and an event, a group being one `member` alone."""
        found = np.ones(len(row), dtype=bool)
        reading, taken = self.form_of.reading, self.form_of.taken
        for link in links:
            bound: dict[int, Bindings] = {component: event}
            for i in link.components:
                if i == component:
                    continue
                if member is not None and i == member[0]:
                    bound[i] = Group(np.arange(len(row) + 1), events[row, member[1]])
                    continue
                places = [at for at, each in enumerate(taken) if each == i]
                if reading.components[i].kleene:
                    members = events[row][:, places]
                    bound[i] = Group(np.arange(0, members.size + 1, len(places)), members.reshape(-1))
                else:
                    bound[i] = events[row, places[0]]
            found &= group_link_holds(self.events, reading, link, bound)
        return found

    def _rule(self, rule: AbsenceRule, group: int, bits: Flags) -> AbsenceRule:
        """Where an event must not lie which some members forbid, the first row, and which others let fit."""
        block = self.shape.block_of(self._component(group, 0))
        forbidding = np.flatnonzero(bits[0]).tolist()
        ends = [RegionEnd(self._point(group, at), 0, is_lower=False) for at in forbidding]
        (region,) = rule.regions
        ends += [end for end in region if not end.is_lower]
        regions: list[Region] = []
        for chosen in product(*(np.flatnonzero(each).tolist() for each in bits[1:])):
            begins = [RegionEnd(self._point(group, at), 1, is_lower=True) for at in dict.fromkeys(chosen)]
            first = RegionEnd(Point(block, "first"), 1, is_lower=True)
            regions.append((*(begins or [first]), *ends))
        return replace(rule, regions=tuple(regions))

    def _component(self, group: int, member: int) -> int:
        return [i for i in self.search.singles if self.form_of.origin[i] == group][member]

    def _point(self, group: int, member: int) -> Point:
        component = self._component(group, member)
        block = self.shape.block_of(component)
        return Point(block, "first") if self.sizes[group] == 1 else Point(block, "only", component)

    def decided(
        self,
        bound: dict[int, Bindings],
        rivals: list[Rivals],
        heard: Callable[[str], None] | None = None,
    ) -> Measured:
        """Matches with the same rules at once: what is summed follows from them."""
        asked = self.measure if heard is None else replace(self.measure, heard=heard)
        count = count_of(bound.values())
        kind, found = kinds_of(rivals, count), impossible(count)
        for number in np.unique(kind):
            rows = np.flatnonzero(kind == number)
            own = [each for each in (rival.taken(rows) for rival in rivals) if len(each.row)]
            some = take_matches(bound, rows)
            if self.shape.together:
                from cepctl.engines.event.absent_together import AbsentTogether

                found.put(rows, AbsentTogether(self, asked).measured(some, own))
            else:
                found.put(rows, measure(Batch(asked, some, own)))
        return found
