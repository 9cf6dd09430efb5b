"""The runs of an alternative, one alternative for every number of members that its groups can have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from cepctl.engines.columns.bindings import Bindings, events_in, members_of
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.read_sets import ReadSetAlternative
from cepctl.engines.event.run_alternative import RunAlternative
from cepctl.engines.event.run_conditions import RunConditions
from cepctl.engines.event.run_growth import RunGrowth, RunSearch, RunTally
from cepctl.engines.event.run_takers import Takers
from cepctl.engines.pattern.blocks import (
    AbsenceRule,
    BlockKind,
    Point,
    RegionEnd,
    Shape,
)
from cepctl.engines.pattern.difference_constraints import system_of
from cepctl.engines.pattern.shapes import after_block, before_block, shape_of
from cepctl.engines.search.search import NOT_BOUND, Search, enumeration_parts
from cepctl.errors import QueryTooLargeError
from cepctl.language.strategies import Absent
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.plan.plan import Alternative, Component, Plan
from cepctl.plan.read_sets import are_read_simply, read_while_they_take
from cepctl.plan.unrolled import Unrolled, unrolled

MOST_MEMBERS = 100
MOST_LISTED = 1 << 16
"""Runs of one length from one event on, of which a summary unites all that end alike."""


def prepared_runs(asked: RunsAsked) -> Iterator[RunAlternative]:
    """One for all sizes of groups that some run can have, at least one.

    Raises
    ------
    QueryTooLargeError
        If a group has more than MOST_MEMBERS members.
    """
    found = 0
    for each in chain.from_iterable(map(asked.without, asked.reading.left_out)):
        found += 1
        yield each
    if not found:
        components = enumerate(asked.reading.components)
        yield asked.of_sizes({i: max(each.least, 1) for i, each in components if each.kleene})


@dataclass(frozen=True)
class RunsAsked:
    """The runs of a reading, whatever the sizes of their groups.

    `candidates`: which events fit each component alone.  `tally` hears what becomes of them.
    `of_intervals`: whether some may last.
    """

    plan: Plan
    reading: Alternative
    events: Events
    candidates: tuple[Indexes, ...]
    options: MatchOptions
    tally: RunTally | None = None
    of_intervals: bool = False

    @cached_property
    def fitting(self) -> Flags:
        """Which events fit each component alone, shape (components, events)."""
        found = np.zeros((len(self.reading.components), len(self.events)), dtype=bool)
        for i, each in enumerate(self.candidates):
            found[i, each] = True
        return found

    @cached_property
    def lists_sets(self) -> bool:
        """Whether sets that are read while they take are listed as wholes: no order decides who fits them."""
        reading = self.reading
        return (
            not reading.takes_in_order
            and are_read_simply(reading)
            and not any(
                len(np.intersect1d(self.candidates[group], self.candidates[behind]))
                for group, behind in read_while_they_take(reading)
            )
        )

    def of_sizes(self, sizes: Mapping[int, int]) -> RunAlternative:
        """Those whose groups have these sizes; none has begun."""
        return _prepared(self, sizes)

    def begun(self, sizes: Mapping[int, int]) -> RunAlternative:
        """Those that have taken their first event."""
        found = self.of_sizes(sizes)
        rows = found.growth.started()
        return replace(found, begun=rows if self.tally is None else self.tally.few(rows), taken=1)

    def without(self, absent: Sequence[int]) -> Iterator[RunAlternative]:
        """All sizes of groups of runs in which some of what may be absent is, and nothing else."""
        reading, zeros = self.reading, dict.fromkeys(absent, 0)
        kleene = (i for i in reading.positive if reading.components[i].kleene and i not in zeros)
        groups = [i for i in kleene if i == reading.turn(i)[0]]
        return self.grown(groups, zeros, self.begun({**zeros, **dict.fromkeys(groups, 1)}))

    def grown(
        self, groups: Sequence[int], known: Mapping[int, int], begun: RunAlternative
    ) -> Iterator[RunAlternative]:
        """All sizes of some groups, those of others being `known`; `begun` has one member of each."""
        if not groups:
            yield begun
            return
        group, *others = groups
        component, events = self.reading.components[group], len(self.reading.turn(group))
        size, source = 1, self._through(begun, begun.form_of.taken.index(group) + events)
        while len(source.begun):
            _refuse_many(component, size)
            self._refuse_runs(source.begun)
            if size >= component.least:
                yield from self.grown(others, {**known, group: size}, self._left(group, source))
            if component.most is not None and size >= component.most:
                return
            size += 1
            longer = self.of_sizes({**known, group: size, **dict.fromkeys(others, 1)})
            room = np.full((len(source.begun), events), NOT_BOUND)
            rows = np.concatenate([source.begun, room], axis=1)
            shorter, source = (
                source,
                self._through(replace(longer, begun=rows, taken=source.taken), source.taken + events),
            )
            if self.tally is not None and size <= component.least:
                ended = len(shorter.begun) - len(distinct_rows(source.begun[:, : shorter.taken]).first)
                self.tally.reject(f"count({component.variable}[]) >= {component.least}", ended)

    def _through(self, source: RunAlternative, taken: int) -> RunAlternative:
        """Runs that have taken so many events; groups pass their filters as they are left."""
        rows = self._longer(source.growth.unfinished, source.begun, source.taken, taken)
        return replace(source, begun=rows, taken=max(taken, source.taken))

    def whole(self, source: RunAlternative) -> Indexes:
        """The runs that have taken all of their events."""
        return self._longer(source.growth, source.begun, source.taken, source.begun.shape[1])

    def _longer(self, growth: RunGrowth, rows: Indexes, taken: int, until: int) -> Indexes:
        for column in range(taken, until):
            if self.tally is not None:
                rows = self.tally.few(rows, len(self.candidates[growth.conditions.taken[column]]))
            rows = growth.longer(rows, column)
        return rows if self.tally is None else self.tally.few(rows)

    def _left(self, group: int, source: RunAlternative) -> RunAlternative:
        """Where a tally is kept, those whose group passes its filters: each group once."""
        if self.tally is None:
            return source
        conditions = replace(source.conditions, heard=self.tally.reject)
        rows = source.begun
        for component in self.reading.turn(group):
            rows = rows[conditions.may_be_left(component, rows[:, : source.taken])]
        return replace(source, begun=rows)

    def _refuse_runs(self, runs: Indexes) -> None:
        """Raise QueryTooLargeError where events are repeated in too many ways, or can be in too many sets.

        Of a summary that lists the runs, also where they begin in more ways than it may list.
        """
        count = len(runs)
        if self.options.kleene == "summary" and self.plan.group_by is None and count > MOST_LISTED:
            _, sizes = np.unique(runs[:, 0], return_counts=True)
            if sizes.max() > MOST_LISTED:
                raise QueryTooLargeError(
                    f"more than {MOST_LISTED:,} groups of one row begin with as many members; narrow the "
                    "query (WITHIN, [attr], tighter predicates), or ask for the groups one by one with "
                    "--kleene groups"
                )
        what = "SEQ(...)+" if self.reading.repeated else self._sets
        if what and count > self.options.max_matches:
            raise QueryTooLargeError(
                f"{what} of this query has more than {self.options.max_matches:,} matches of one length; "
                "narrow it (WITHIN, [attr], tighter predicates), or raise the cap with --max-matches"
            )

    @property
    def _sets(self) -> str:
        """The groups without order, whose members may be there or not, for a message."""
        return ", ".join(f"{each.variable}[]" for each in self.reading.components if each.is_set)


def _refuse_many(group: Component, size: int) -> None:
    if size > MOST_MEMBERS:
        raise QueryTooLargeError(
            f"a run of this query may take more than {MOST_MEMBERS:,} members of {group.variable}[]; narrow "
            "it (WITHIN, [attr], tighter predicates)"
        )


def one_run(
    listing: PreparedAlternative, reading: Alternative, bound: Mapping[int, Bindings]
) -> tuple[RunAlternative, dict[int, Bindings]]:
    """One match of a reading, by its groups: as the run that it is, which binds single events.

    What `bound` lacks is absent; the reading of `listing` has it negated.
    """
    plan, options = listing.plan, listing.options
    left = {i: iter(events_in(each)) for i, each in bound.items()}
    sizes = {i: members_of(each) for i, each in bound.items() if reading.components[i].kleene}
    sizes |= {i: 0 for i in reading.positive if i not in bound}
    asked = RunsAsked(plan, reading, listing.events, listing.search.candidates, options)
    if asked.lists_sets:
        run: RunAlternative = _of_read_sets(plan, reading, listing, options, sizes)
    else:
        run = asked.of_sizes(sizes)
    places = zip(run.search.singles, run.form_of.taken, strict=True)
    return run, {place: np.array([next(left[i])]) for place, i in places}


def prepared_read_sets(asked: RunsAsked, listing: PreparedAlternative) -> Iterator[ReadSetAlternative]:
    """One for all sizes of groups without order that what follows reads; `listing` lists them."""
    groups = _groups_read(asked)
    order = tuple(at for at, i in enumerate(listing.search.singles) if i not in groups)
    found: set[tuple[int, ...]] = set()
    for part in enumeration_parts(listing.search, listing.events, order):
        for rows in part():
            for bound in listing.with_groups(rows):
                found |= _sizes_of(bound, groups)
    for each in sorted(found) or [(1,) * len(groups)]:
        yield _of_read_sets(
            asked.plan, asked.reading, listing, asked.options, dict(zip(groups, each, strict=True))
        )


def read_sets_of_each_size(
    asked: RunsAsked, listing: PreparedAlternative, bound: dict[int, Bindings]
) -> Iterator[tuple[ReadSetAlternative, dict[int, Bindings]]]:
    """Some of the matches that are listed, those with groups of the same sizes together."""
    groups = _groups_read(asked)
    for each in sorted(_sizes_of(bound, groups)):
        sizes = dict(zip(groups, each, strict=True))
        found = _of_read_sets(asked.plan, asked.reading, listing, asked.options, sizes)
        yield found, found.one_by_one(bound)


def _groups_read(asked: RunsAsked) -> list[int]:
    """The groups of a reading, all of which are without order."""
    return [i for i in asked.reading.positive if asked.reading.components[i].kleene]


def _sizes_of(bound: Mapping[int, Bindings], groups: Sequence[int]) -> set[tuple[int, ...]]:
    sizes = np.stack([bound[i].sizes for i in groups], axis=1)  # type: ignore[union-attr]
    return set(map(tuple, np.unique(sizes, axis=0).tolist()))


def _of_read_sets(
    plan: Plan, reading: Alternative, listing: PreparedAlternative, options: MatchOptions,
    sizes: dict[int, int],
) -> ReadSetAlternative:  # fmt: skip
    form = unrolled(reading, sizes)
    shape = _with_members_apart(shape_of(plan, form.alternative), form.alternative.positive)
    rules = [
        rule
        for number in range(form.lead_blocks, len(shape.blocks))
        for rule in _passed_over(form, number, plan.window, listing.search.candidates)
    ]
    shape = replace(shape, rules=(*_of_lead(shape, form), *rules))
    search = Search.of_unrolled(plan, form, listing.search.candidates)
    conditions = RunConditions(listing.events, reading, form.taken)
    return ReadSetAlternative(
        plan, listing.events, shape, search, options,
        form_of=form, conditions=conditions, takers=None, listing=listing, sizes=sizes,
        begun=np.full((0, len(search.singles)), NOT_BOUND), unfinished_system=search.system,
    )  # fmt: skip


def _with_members_apart(shape: Shape, components: Sequence[int]) -> Shape:
    """The shape in which rules speak of single ones of some components, though they share a block."""
    blocks = (
        replace(each, kind=BlockKind.UNORDERED)
        if len(each.components) > 1 and each.components[0] in components
        else each
        for each in shape.blocks
    )
    return replace(shape, blocks=tuple(blocks))


def _of_lead(shape: Shape, form: Unrolled) -> tuple[AbsenceRule, ...]:
    """The rules of negation, and of what leads to the last AND, which takes as it does without groups."""
    components = shape.alternative.components
    return tuple(
        rule
        for rule in shape.rules
        if rule.component is not None
        and (components[rule.component].negated or form.origin[rule.component] in form.reading.lead)
    )


def _passed_over(
    form: Unrolled, number: int, window: int | None, candidates: Sequence[Indexes]
) -> Iterator[AbsenceRule]:
    """Where what fits a block would have been taken, as far as its neighbours say."""
    takers = [form.taken[places[-1]] for places in form.places]
    taker, components, last = takers[number], form.reading.components, len(takers) - 1
    component, other = components[taker], form.rivals[taker]
    if number and components[takers[number - 1]].kleene:
        # A set takes no event after its first tick that fits what is behind it, too.
        shared = np.intersect1d(candidates[takers[number - 1]], candidates[taker])
        members_too = len(form.places[number - 1]) > 1 and len(shared) > 0
        region = (after_block(number - 1, "first"), before_block(number))
        yield AbsenceRule(other, (region,), members_too)
    elif number and not component.kleene:
        yield AbsenceRule(other, ((after_block(number - 1), before_block(number)),))
    if component.kleene:
        lower = after_block(number - 1) if number else RegionEnd(Point(0, "first"), 0, is_lower=True)
        ends = [before_block(number + 1)] if number < last else []
        if number == last and component.running:
            ends.append(RegionEnd(Point(number, "last"), 0, is_lower=False))
        elif number == last and window is not None:
            ends.append(RegionEnd(Point(0, "first"), window - 1, is_lower=False))
        yield AbsenceRule(other, ((lower, *ends),))


def _prepared(asked: RunsAsked, sizes: Mapping[int, int]) -> RunAlternative:
    plan, reading, events = asked.plan, asked.reading, asked.events
    form = unrolled(reading, sizes)
    conditions = RunConditions(events, reading, form.taken)
    passes_over = plan.strategy.absent is Absent.NEARER
    takers = Takers(form, plan.window) if passes_over else None
    shape = shape_of(plan, form.alternative)
    if takers is not None:
        read = {group for group, _ in read_while_they_take(reading)}
        shape = _with_members_apart(shape, [i for i in form.alternative.positive if form.origin[i] in read])
        # What is passed over is absent as its takers say.
        whole = [(place, takers.whole(i)) for i, place in form.rivals.items()]
        rules = tuple(takers.rule(place, stretch) for place, stretch in whole if stretch is not None)
        shape = replace(shape, rules=(*_of_lead(shape, form), *rules))
    growth = RunSearch(conditions, asked.fitting, takers, tally=asked.tally)
    search = Search.of_unrolled(plan, form, asked.candidates, growth)
    begun = np.full((0, len(search.singles)), NOT_BOUND)
    known = tuple(
        each
        for each in reading.member_timings
        if asked.tally is None and "last" not in (each.left_member, each.right_member)
    )
    unfinished = form.alternative
    if known != reading.member_timings:
        unfinished = unrolled(replace(reading, member_timings=known), sizes).alternative
    if asked.of_intervals:
        from cepctl.engines.event.interval_alternative import interval_run

        return interval_run(plan, events, shape, search, asked.options, form, conditions, unfinished)
    unfinished_system = search.system
    if unfinished is not form.alternative:
        unfinished_system = system_of(unfinished, plan.window)
    return RunAlternative(
        plan, events, shape, search, asked.options,
        form_of=form, conditions=conditions, takers=takers, begun=begun,
        unfinished_system=unfinished_system,
    )  # fmt: skip
