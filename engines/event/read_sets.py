"""Sets that single events behind them read, under next match, listed as wholes: `c.x < max(b[].x)`.

The group is the set of all events that fit it before the first event that fits what follows.  Its members are
bound one by one, as those of AND are, since each may tell whether a rival of that event fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch, count_of, single_events, take_matches
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.run_alternative import RunAlternative
from cepctl.engines.event.run_takers import joined
from cepctl.engines.pattern.blocks import AbsenceRule, Rivals, decided_alike
from cepctl.engines.pattern.difference_constraints import possible
from cepctl.engines.pattern.rivals import RivalJoin
from cepctl.engines.search.search import FEWEST_COSTLY_STARTS, enumeration_parts
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.methods import measure
from cepctl.numeric.arrays import Indexes

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
                happen = possible(*self.measure.valid(single_events(list(own.values()))))
                if happen.any():
                    own = take_matches(own, np.flatnonzero(happen))
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
                block = self.shape.block_of(self.search.singles[self.form_of.taken.index(group)])
                members = self._members_read(component, block, events)
                for rule, row, event in members.rivals(each.rule, each.row, each.event):
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

    def measured_as(self, asked: Measure, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
        """Matches with the same rules at once: what is summed follows from them."""
        count = count_of(bound.values())
        found = impossible(count)
        for _, rows in decided_alike(rivals, count):
            own = [each for each in (rival.taken(rows) for rival in rivals) if len(each.row)]
            some = take_matches(bound, rows)
            if self.shape.together:
                from cepctl.engines.event.absent_parts import AbsentTogether

                found.put(rows, AbsentTogether(self, asked).measured(some, own))
            else:
                found.put(rows, measure(Batch(asked, some, own)))
        return found
