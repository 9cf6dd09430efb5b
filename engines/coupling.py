"""From matches, their members and their rivals to coupled problems, and back to confidences.

For each layout of a batch (see `layouts`) the constraints become edges between variables, members of
sets become factors that must lie inside, rivals factors that must lie outside (see
`coupled_problem`).  The problems of one match exclude each other, so their probabilities add up.

Runs inside Spark workers: imports NumPy only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from cepctl.engines.bindings import Bound as BoundEvents
from cepctl.engines.bindings import Group, single_events
from cepctl.engines.constraints import closure, possible, valid_bounds
from cepctl.engines.coupled_confidence import coupled_confidence, first_ticks, mirrored
from cepctl.engines.coupled_problem import NO_VARIABLE, Bound, Problems, Structure, breakpoints
from cepctl.engines.layouts import Layout, layouts
from cepctl.engines.masses import Masses
from cepctl.engines.rivals import Rivals, Spans
from cepctl.engines.sampling import Sampling
from cepctl.engines.shape import BlockKind, Region, Shape
from cepctl.engines.types import Flags, Indexes, Reals, Ticks
from cepctl.plan.plan import Timing

_LAST = np.iinfo(np.int64).max
Edge = tuple[int, int, int]


@dataclass(frozen=True)
class _Entries:
    """Regions of factors before they are sorted: problem, event, inside, and number of the region kind."""

    problem: Indexes
    event: Indexes
    inside: Flags
    kind: Indexes


def block_group(bound: Sequence[BoundEvents]) -> Group:
    """The members of a block: one Kleene group, or an event of each component in pattern order."""
    if len(bound) == 1 and isinstance(bound[0], Group):
        return bound[0]
    members = single_events(bound)
    offsets = np.arange(0, members.size + 1, max(members.shape[1], 1), dtype=np.int64)
    return Group(offsets, members.reshape(-1))


def spans_of(masses: Masses, groups: Sequence[Group]) -> Spans:
    """Where the first and last member of every block can be, by their own intervals alone."""
    lower = [masses.lower[group.members] for group in groups]
    upper = [masses.upper[group.members] for group in groups]
    begins = [group.offsets[:-1] for group in groups]
    return Spans(
        *(
            np.stack([extreme.reduceat(t, b) for t, b in zip(ticks, begins, strict=True)], axis=1)
            for extreme, ticks in (
                (np.minimum, lower), (np.minimum, upper), (np.maximum, lower), (np.maximum, upper)
            )
        )
    )  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """Confidence, its error, first and last tick of n matches, shape (n,).

    `error` is 0 where the confidence is exact.  A match that no world returns starts after its end.
    """

    confidence: Reals
    error: Reals
    start: Ticks
    end: Ticks


def coupled_matches(
    shape: Shape, masses: Masses, groups: list[Group], rivals: list[Rivals], sampling: Sampling | None = None
) -> Measured:
    """Measure matches; `groups` gives the members of every block.

    Raises
    ------
    QueryTooLargeError
        If a problem exceeds the bound on its work; with `sampling` only if the search for its range does.
    """
    count = len(groups[0].sizes)
    confidence, error = np.zeros(count), np.zeros(count)
    start, end = np.full(count, _LAST), np.full(count, -_LAST)
    given_up: list[Problems] = []
    for problems in coupled_problems(shape, masses, groups, rivals):
        part, first = _solved(masses, problems, error > 0, give_up=sampling is not None)
        last = -first_ticks(*mirrored(masses, problems))
        unknown = np.isnan(part) & (first != _LAST)
        if sampling is not None and unknown.any():
            given_up.append(problems.taken(np.flatnonzero(unknown)))
            error[problems.match[unknown]] = sampling.error
        happens = first != _LAST
        match = problems.match[happens]
        np.add.at(confidence, match, np.where(unknown, 0.0, part)[happens])
        np.minimum.at(start, match, first[happens])
        np.maximum.at(end, match, last[happens])
    if sampling is not None and given_up:
        sampled, estimate = sampling.probabilities(groups, given_up)
        confidence[sampled] = np.minimum(confidence[sampled] + estimate, 1.0)
    return Measured(confidence, error, start, end)


def _solved(masses: Masses, problems: Problems, sampled: Flags, *, give_up: bool) -> tuple[Reals, Ticks]:
    """As `coupled_confidence`; matches that are `sampled` anyway are not summed any further."""
    hopeless = sampled[problems.match]
    if not hopeless.any():
        return coupled_confidence(masses, problems, give_up=give_up)
    part, first = np.full(len(hopeless), np.nan), np.zeros(len(hopeless), dtype=np.int64)
    kept = np.flatnonzero(~hopeless)
    part[kept], first[kept] = coupled_confidence(masses, problems.taken(kept), give_up=give_up)
    first[hopeless] = first_ticks(masses, problems.taken(np.flatnonzero(hopeless)))
    return part, first


def coupled_problems(
    shape: Shape, masses: Masses, groups: list[Group], rivals: list[Rivals]
) -> Iterator[Problems]:
    """The problems of a batch of matches; those of one match exclude each other."""
    for layout in layouts(shape, groups):
        yield from _problems(shape, masses, groups, rivals, layout)


def _problems(
    shape: Shape, masses: Masses, groups: list[Group], rivals: list[Rivals], layout: Layout
) -> Iterator[Problems]:
    """The problems of a layout; `!=` between variables makes two of each."""
    unequal = [pair for timing in shape.timings if timing.not_equal for pair in _pairs(shape, layout, timing)]
    for signs in product((-1, 1), repeat=len(unequal)):
        sides = [
            (u, v, c - 1) if sign < 0 else (v, u, -c - 1)
            for (u, v, c), sign in zip(unequal, signs, strict=True)
        ]
        edges, low, high = _edges(shape, layout, sides)
        count = layout.event.shape[1]
        system = closure(count, edges)
        if (np.diag(system) < 0).any():
            continue
        lower = np.maximum(masses.lower[layout.event], low)
        upper = np.minimum(masses.upper[layout.event], high)
        lower, upper = valid_bounds(lower, upper, system)
        keep = possible(lower, upper)
        kinds = _RegionKinds()
        entries = [*_members(shape, groups, layout, kinds), *_outside(shape, layout, rivals, kinds)]
        yield _assembled(layout, edges, system, lower, upper, keep, kinds, entries)


def _pairs(shape: Shape, layout: Layout, timing: Timing) -> Iterator[Edge]:
    """The pairs of variables that a timing constraint ties, with its bound."""
    for u, v in product(_variables(shape, layout, timing.left), _variables(shape, layout, timing.right)):
        yield u, v, timing.bound


def _edges(shape: Shape, layout: Layout, sides: list[Edge]) -> tuple[list[Edge], Ticks, Ticks]:
    """Order, window and timing between variables, and constant limits on single variables.

    `sides` says for every `!=` on which side of the tick it holds.
    """
    count = layout.event.shape[1]
    edges: list[Edge] = []
    before: tuple[int, ...] = ()
    for block in layout.blocks:
        edges += [(u, v, -1) for u in before for v in block.variables]
        if block.choice in ("pair", "sequence"):
            edges += [(v, v + 1, -1) for v in block.variables[:-1]]
        elif block.choice == "unordered":
            edges += _ends_of_unordered(block.slots, block.first, block.last)
        before = block.variables or before
    first, last = layout.blocks[0].first, layout.blocks[-1].last
    if shape.window is not None and first != last:
        edges.append((last, first, shape.window - 1))
    low, high = np.full(count, -_LAST), np.full(count, _LAST)
    equal = [
        pair for timing in shape.timings if not timing.not_equal for pair in _pairs(shape, layout, timing)
    ]
    for i, j, limit in [*equal, *sides]:
        _constrain(edges, low, high, i, j, limit)
    return edges, low, high


def _constrain(edges: list[Edge], low: Ticks, high: Ticks, i: int, j: int, limit: int) -> None:
    if i == j:
        if limit < 0:
            high[i], low[i] = -_LAST, _LAST
    elif i == NO_VARIABLE:
        low[j] = max(low[j], -limit)
    elif j == NO_VARIABLE:
        high[i] = min(high[i], limit)
    else:
        edges.append((i, j, limit))


def _ends_of_unordered(slots: Sequence[int], first: int, last: int) -> list[Edge]:
    """The first variable precedes all others of its block, ties broken by slot; so the last follows."""
    edges: list[Edge] = [(first, last, -1)]
    for variable in slots:
        if variable not in (first, last):
            edges.append((first, variable, -1 if slots.index(variable) < slots.index(first) else 0))
            edges.append((variable, last, -1 if slots.index(variable) < slots.index(last) else 0))
    return edges


def _variables(shape: Shape, layout: Layout, component: int | None) -> tuple[int, ...]:
    """Variables that stand for a component in a timing constraint."""
    if component is None:
        return (NO_VARIABLE,)
    number = shape.block_of(component)
    block = layout.blocks[number]
    if shape.blocks[number].kind is BlockKind.UNORDERED:
        return (block.slots[shape.blocks[number].components.index(component)],)
    return block.variables


class _RegionKinds:
    """Distinct lists of bounds, numbered as they come up."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[Bound, ...], int] = {}

    def number(self, bounds: tuple[Bound, ...]) -> int:
        return self.numbers.setdefault(bounds, len(self.numbers))


def _members(shape: Shape, groups: list[Group], layout: Layout, kinds: _RegionKinds) -> Iterator[_Entries]:
    """Members of sets that are no variables must lie between their block's ends or its neighbours."""
    for number, block in enumerate(layout.blocks):
        if block.choice in ("single", "sequence", "unordered"):
            continue
        owned = groups[number].take(layout.row)
        problem, slot = (
            owned.owner,
            np.arange(len(owned.members)) - np.repeat(owned.offsets[:-1], owned.sizes),
        )
        first, last = block.first_slot[problem], block.last_slot[problem]
        # A negative slot stands for no variable; ties before it are left to the member chosen.
        rest = (slot != first) & (slot != last) if block.choice != "tied" else slot != first
        for early, late in product((False, True), repeat=2):
            ends = _inside(shape, layout, number, early, late)
            here = rest & ((slot < first) == early) & ((slot < last) == late)
            if here.any():
                kind = kinds.number(tuple(ends))
                size = int(here.sum())
                yield _Entries(problem[here], owned.members[here], np.ones(size, bool), np.full(size, kind))
        for excluded in _excluded_ticks(shape, layout, number):
            kind, size = kinds.number(excluded), int(rest.sum())
            yield _Entries(problem[rest], owned.members[rest], np.zeros(size, bool), np.full(size, kind))


def _inside(shape: Shape, layout: Layout, number: int, early: bool, late: bool) -> list[Bound]:
    """Bounds of a member: its block's ends where these are variables, else the blocks beside.

    `early`, `late`: its slot comes before that of the first (last) member chosen, so that it may not
    share that member's tick.
    """
    block = layout.blocks[number]
    bounds = []
    if block.choice == "tied":
        bounds = [Bound(block.first, 0, True), Bound(block.first, 0, False)]
    else:
        if block.first >= 0:
            bounds.append(Bound(block.first, int(early), True))
        elif number > 0:
            bounds.append(Bound(layout.blocks[number - 1].last, 1, True))
        if block.last >= 0:
            bounds.append(Bound(block.last, -int(late), False))
        elif number + 1 < len(layout.blocks):
            bounds.append(Bound(layout.blocks[number + 1].first, -1, False))
    return bounds + _member_timings(shape, layout, number)


def _member_timings(shape: Shape, layout: Layout, number: int) -> list[Bound]:
    """Timing constraints between each member of a Kleene set and one other event."""
    bounds = []
    component = shape.blocks[number].components[0]
    for timing in shape.timings:
        if timing.not_equal or component not in (timing.left, timing.right):
            continue
        other = timing.right if timing.left == component else timing.left
        (variable,) = _variables(shape, layout, other)
        is_upper = timing.left == component
        bounds.append(Bound(variable, timing.bound if is_upper else -timing.bound, not is_upper))
    return bounds


def _excluded_ticks(shape: Shape, layout: Layout, number: int) -> Iterator[tuple[Bound, ...]]:
    """Ticks that `!=` forbids to each member of a Kleene set, as regions of one tick."""
    component = shape.blocks[number].components[0]
    for timing in shape.timings:
        if timing.not_equal and component in (timing.left, timing.right):
            other = timing.right if timing.left == component else timing.left
            constant = timing.bound if timing.left == component else -timing.bound
            (variable,) = _variables(shape, layout, other)
            yield Bound(variable, constant, True), Bound(variable, constant, False)


def _outside(shape: Shape, layout: Layout, rivals: list[Rivals], kinds: _RegionKinds) -> Iterator[_Entries]:
    """Rivals of each problem's match, once per region of their rule."""
    by_row = np.argsort(layout.row, kind="stable")
    rows = layout.row[by_row]
    for each in rivals:
        begin, end = np.searchsorted(rows, each.row), np.searchsorted(rows, each.row, side="right")
        counts = end - begin
        pair = np.repeat(np.arange(len(each.row)), counts)
        problem = by_row[begin[pair] + np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)]
        for region in each.rule.regions:
            kind = kinds.number(_bounds(shape, layout, region))
            yield _Entries(problem, each.event[pair], np.zeros(len(pair), bool), np.full(len(pair), kind))


def _bounds(shape: Shape, layout: Layout, region: Region) -> tuple[Bound, ...]:
    return tuple(
        Bound(
            NO_VARIABLE if end.point is None else layout.variable_of(shape, end.point),
            end.constant,
            end.is_lower,
        )
        for end in region
    )


def _assembled(
    layout: Layout,
    edges: list[Edge],
    system: Ticks,
    lower: Ticks,
    upper: Ticks,
    keep: Flags,
    kinds: _RegionKinds,
    parts: list[_Entries],
) -> Problems:
    """Sort the entries into factors (problem, event), drop impossible problems, expand the bounds."""
    problem = np.concatenate([np.zeros(0, np.int64), *(part.problem for part in parts)])
    event = np.concatenate([np.zeros(0, np.int64), *(part.event for part in parts)])
    inside = np.concatenate([np.zeros(0, bool), *(part.inside for part in parts)])
    kind = np.concatenate([np.zeros(0, np.int64), *(part.kind for part in parts)])
    keep = keep & _variables_spared(layout, problem, event, inside)
    order = np.lexsort((kind, event, problem))
    is_variable = (layout.event[problem] == event[:, None]).any(axis=1)
    order = order[(keep[problem] & ~is_variable)[order]]
    problem, event, inside, kind = problem[order], event[order], inside[order], kind[order]
    renumbered = np.cumsum(keep) - 1
    fresh = np.ones(len(problem), dtype=bool)
    fresh[1:] = (problem[1:] != problem[:-1]) | (event[1:] != event[:-1])
    begins = np.flatnonzero(fresh)
    bounds = list(kinds.numbers)
    sizes = np.array([len(each) for each in bounds], dtype=np.int64)
    flat = [bound for each in bounds for bound in each]
    origin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    per_region = sizes[kind] if len(sizes) else np.zeros(0, np.int64)
    offsets = np.concatenate([[0], np.cumsum(per_region)]).astype(np.int64)
    at = np.repeat(origin[:-1][kind] - offsets[:-1], per_region) + np.arange(offsets[-1]) if len(kind) else (
        np.zeros(0, np.int64))  # fmt: skip
    structure = Structure(system, tuple(edges), breakpoints(len(system), edges, system, bounds))
    return Problems(
        structure, layout.row[keep], layout.event[keep], lower[keep], upper[keep],
        np.searchsorted(renumbered[problem[begins]], np.arange(int(keep.sum()) + 1)), event[begins],
        np.append(begins, len(problem)), inside, offsets,
        np.array([bound.is_lower for bound in flat], dtype=bool)[at],
        np.array([bound.variable for bound in flat], dtype=np.int64)[at],
        np.array([bound.constant for bound in flat], dtype=np.int64)[at],
    )  # fmt: skip


def _variables_spared(layout: Layout, problem: Indexes, event: Indexes, inside: Flags) -> Flags:
    """False for problems in which a rival is itself the last member of a group, and not its first.

    That is a later member of a group under skip_till_next_match which fits the component after the
    group too: it would have been taken as that component.
    """
    spared = np.ones(len(layout.row), dtype=bool)
    for block in layout.blocks:
        if block.choice == "pair":
            hit = ~inside & (layout.event[problem, block.last] == event)
            spared[problem[hit]] = False
    return spared
