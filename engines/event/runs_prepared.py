"""The runs of an alternative, one alternative for every number of members that its groups can have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.bindings import Bindings, events_in, members_of
from cepctl.engines.columns.events import Events
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions, pairs_at_once
from cepctl.engines.event.read_sets import ReadSetAlternative
from cepctl.engines.event.run_alternative import RunAlternative
from cepctl.engines.event.run_conditions import RunConditions
from cepctl.engines.event.run_search import RunSearch
from cepctl.engines.event.run_takers import Takers
from cepctl.engines.pattern.blocks import AbsenceRule, BlockKind, Point, Region, RegionEnd, shape_of
from cepctl.engines.pattern.difference_constraints import closed_system
from cepctl.engines.search.search import Search, enumeration_parts
from cepctl.errors import QueryTooLargeError, UnsupportedQueryError
from cepctl.language.strategies import SKIP_TILL_ANY_MATCH, Absent
from cepctl.plan.plan import Alternative, Plan
from cepctl.plan.unrolled import unrolled

MOST_MEMBERS = 100


def prepared_runs(
    plan: Plan, reading: Alternative, events: Events, candidates: tuple[Indexes, ...], options: MatchOptions
) -> Iterator[RunAlternative]:
    """One for all sizes of groups that some run can have, at least one.

    `candidates`: which events fit each component alone.

    Raises
    ------
    QueryTooLargeError
        If a group has more than MOST_MEMBERS members.
    """
    groups = [i for i in reading.positive if _varies(reading, i)]
    found = 0
    # The time of the last member may be possible for more members alone.
    untimed = replace(reading, member_timings=())
    for sizes in _sizes(plan, untimed, events, candidates, options, groups, {}):
        found += 1
        yield _prepared(plan, reading, events, candidates, options, sizes)
    if not found:
        fewest = {i: max(reading.components[i].least, 1) for i in groups}
        yield _prepared(plan, reading, events, candidates, options, fewest)


def one_run(
    listing: PreparedAlternative, bound: Mapping[int, Bindings]
) -> tuple[RunAlternative, dict[int, Bindings]]:
    """One match of a reading, by its groups: as the run that it is, which binds single events."""
    plan, reading, options = listing.plan, listing.alternative, listing.options
    taken = [event for i in reading.positive for event in events_in(bound[i])]
    sizes = {i: members_of(bound[i]) for i in reading.positive if reading.components[i].kleene}
    if any(component.ordered for component in reading.components):
        run = _prepared(plan, reading, listing.events, listing.search.candidates, options, sizes)
    else:
        run = _of_read_sets(plan, reading, listing, options, sizes)
    return run, {i: np.array([event]) for i, event in zip(run.search.singles, taken, strict=True)}


def _sizes(
    plan: Plan, reading: Alternative, events: Events, candidates: tuple[Indexes, ...], options: MatchOptions,
    groups: list[int], known: dict[int, int],
) -> Iterator[dict[int, int]]:  # fmt: skip
    if not groups:
        yield known
        return
    group, *others = groups
    least, most = reading.components[group].least, reading.components[group].most
    takes_some = others or any(known.values()) or any(not _varies(reading, i) for i in reading.positive)
    if reading.passes_over and not least and takes_some:
        yield from _sizes(plan, reading, events, candidates, options, others, {**known, group: 0})
    fewest = {i: min(reading.components[i].least, 1) if reading.passes_over else 1 for i in others}
    for size in range(1, MOST_MEMBERS + 2):
        if most is not None and size > most:
            return
        source = _prepared(plan, reading, events, candidates, options, {**known, group: size, **fewest})
        if not _some_run(source, group):
            return
        if size > MOST_MEMBERS:
            name = reading.components[group].variable
            raise QueryTooLargeError(
                f"a run of this query may take more than {MOST_MEMBERS:,} members of {name}[]; narrow it "
                "(WITHIN, [attr], tighter predicates)"
            )
        if size >= least:
            yield from _sizes(plan, reading, events, candidates, options, others, {**known, group: size})


def _varies(reading: Alternative, component: int) -> bool:
    """Whether runs take different numbers of events for a component, or a group in order."""
    return reading.components[component].ordered or (
        reading.passes_over and not reading.components[component].least
    )


def prepared_read_sets(
    plan: Plan, reading: Alternative, listing: PreparedAlternative, options: MatchOptions
) -> Iterator[ReadSetAlternative]:
    """One for all sizes of groups without order that what follows reads; `listing` lists them.

    Raises
    ------
    UnsupportedQueryError
        If some event fits such a group and the component behind it.
    """
    groups = [i for i in reading.positive if reading.components[i].kleene]
    candidates = listing.search.candidates
    for group, behind in pairwise(reading.positive):
        if group in groups and len(np.intersect1d(candidates[group], candidates[behind])):
            name = reading.components[group].variable
            raise UnsupportedQueryError(
                f"not supported yet: events that fit {name}[] and what follows and reads it; --engine worlds "
                f"runs it, and so does the event engine where it is read in order, as max({name}[..i].x)"
            )
    order = tuple(at for at, i in enumerate(listing.search.singles) if i not in groups)
    found: dict[tuple[int, ...], None] = {}
    for part in enumeration_parts(listing.search, listing.events, order):
        for rows in part():
            for bound in listing.with_groups(rows):
                sizes = np.stack([bound[i].sizes for i in groups], axis=1)  # type: ignore[union-attr]
                found |= dict.fromkeys(map(tuple, np.unique(sizes, axis=0).tolist()))
    for each in sorted(found) or [(1,) * len(groups)]:
        yield _of_read_sets(plan, reading, listing, options, dict(zip(groups, each, strict=True)))


def _of_read_sets(
    plan: Plan, reading: Alternative, listing: PreparedAlternative, options: MatchOptions,
    sizes: dict[int, int],
) -> ReadSetAlternative:  # fmt: skip
    form = unrolled(reading, sizes)
    shape = shape_of(replace(plan, strategy=SKIP_TILL_ANY_MATCH), form.alternative)
    blocks = tuple(
        replace(each, kind=BlockKind.UNORDERED) if len(each.components) > 1 else each for each in shape.blocks
    )
    is_set = [reading.components[form.origin[each.components[0]]].kleene for each in blocks]
    rules = [
        AbsenceRule(form.rivals[form.origin[block.components[0]]], (region,))
        for number, block in enumerate(blocks)
        if (region := _passed_over(number, is_set, plan.window)) is not None
    ]
    shape = replace(shape, blocks=blocks, rules=(*shape.rules, *rules))
    search = Search(
        form.alternative,
        form.alternative.positive,
        _system(plan, form.alternative),
        tuple(listing.search.candidates[i] for i in form.origin),
        plan.partition_by,
    )
    conditions = RunConditions(listing.events, reading, form.taken)
    return ReadSetAlternative(
        plan, listing.events, shape, search, options,
        form_of=form, conditions=conditions, takers=None, listing=listing, sizes=sizes,
    )  # fmt: skip


def _passed_over(number: int, is_set: Sequence[bool], window: int | None) -> Region | None:
    """Where what fits a block would have been taken, as far as its neighbours say."""
    if number == 0 and not is_set[0]:
        return None
    lower = RegionEnd(Point(0, "first"), 0, is_lower=True)
    if number:
        after_set = is_set[number - 1] and not is_set[number]
        lower = RegionEnd(Point(number - 1, "first" if after_set else "last"), 1, is_lower=True)
    end = number + 1 if is_set[number] else number
    if end < len(is_set):
        return lower, RegionEnd(Point(end, "first"), -1, is_lower=False)
    return (lower,) if window is None else (lower, RegionEnd(Point(0, "first"), window - 1, is_lower=False))


def _some_run(source: RunAlternative, group: int) -> bool:
    """Whether some run takes all members of a group that has these sizes."""
    search = source.search_within_gaps()
    assert isinstance(search.growth, RunSearch)
    search = replace(search, growth=replace(search.growth, finished=False))
    order = tuple(range(1 + max(at for at, i in enumerate(source.form_of.taken) if i == group)))
    return any(len(rows) for part in enumeration_parts(search, source.events, order) for rows in part())


def _prepared(
    plan: Plan, reading: Alternative, events: Events, candidates: tuple[Indexes, ...], options: MatchOptions,
    sizes: dict[int, int],
) -> RunAlternative:  # fmt: skip
    form = unrolled(reading, sizes)
    conditions = RunConditions(events, reading, form.taken)
    passes_over = plan.strategy.absent is Absent.NEARER
    takers = Takers(reading, form.taken, plan.window) if passes_over else None
    # What is passed over is absent as its takers say.
    own = replace(plan, strategy=SKIP_TILL_ANY_MATCH) if passes_over else plan
    shape = shape_of(own, form.alternative)
    if takers is not None:
        whole = [(place, takers.whole(i)) for i, place in form.rivals.items()]
        rules = tuple(takers.rule(place, stretch) for place, stretch in whole if stretch is not None)
        shape = replace(shape, rules=(*shape.rules, *rules))
    fitting = np.zeros((len(reading.components), len(events)), dtype=bool)
    for i, each in enumerate(candidates):
        fitting[i, each] = True
    search = Search(
        form.alternative,
        form.alternative.positive,
        _system(plan, form.alternative),
        tuple(candidates[i] for i in form.origin),
        plan.partition_by,
        pairs_at_once=pairs_at_once(plan, form.alternative, options),
        growth=RunSearch(conditions, fitting, takers),
    )
    return RunAlternative(
        plan, events, shape, search, options, form_of=form, conditions=conditions, takers=takers
    )


def _system(plan: Plan, alternative: Alternative) -> Ticks:
    positive = alternative.positive
    block_of = {i: number for number, block in enumerate(alternative.blocks) for i in block}
    edges = [
        (positive.index(each.left), positive.index(each.right), each.bound)
        for each in alternative.timings
        if not each.not_equal and each.left in positive and each.right in positive
    ]
    return closed_system([block_of[i] for i in positive], plan.window, edges)
