"""Every match of a pattern in one possible world, by plain search: semantics.md word for word.

In one world each event has one tick.  The search binds the positive components in pattern
order to every combination of events that fit and stand in the right order, and then asks of
each finished combination the questions of the table "A match in one world", one function per
row.  Nothing is clever, so that it can be compared with the text line by line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from cepctl.engines.worlds.combinations import Bindable
from cepctl.engines.worlds.one_world import (
    Bound,
    Edge,
    Ticks,
    events_in,
    events_of,
    extent,
    first_tick,
    last_tick,
    remembered,
)
from cepctl.engines.worlds.readings import finished_run, not_known, reading, runs
from cepctl.plan.plan import MemberTiming, Scope, Timing
from cepctl.schema import LATEST_TICK


@dataclass(frozen=True)
class WorldSearch(Bindable):
    """One alternative of a plan over one stream; `matches` answers for one world at a time."""

    def __post_init__(self) -> None:
        """Refuse what would be asked of nothing: a judge that does not know a word says so."""
        unknown = {link.scope for link in self.alternative.links} - {Scope.EVENT, Scope.ORDER, Scope.GROUP}
        for word in unknown:
            raise not_known(word)
        reading(self.plan)

    def matches(self, ticks: Ticks) -> Iterator[Bound]:
        """All matches in the world where event e happens at `ticks[e]`."""
        holds_beside_others = reading(self.plan).holds
        found = runs(self, ticks) if self._as_runs else self.bindings(ticks, self.alternative.positive)
        for bound in found:
            if (
                self._window_holds(ticks, bound)
                and self._timings_hold(ticks, bound)
                and self._negations_hold(ticks, bound)
                and not any(self._happens(ticks, bound, place) for place in self._absent_together)
                and (self._as_runs or holds_beside_others(self, ticks, bound))
            ):
                yield bound

    @cached_property
    def _as_runs(self) -> bool:
        """Whether next match is asked of groups in order, or what reads a group before it."""
        return reading(self.plan).as_runs and self.alternative.reads_taken

    def decided_at(self, ticks: Ticks, bound: Bound, first: int, last: int) -> int:
        """When this world has decided a match: with its last tick, or with the window where that ends it.

        `first` and `last` are its extent.  A window that goes on beyond the end of time ends with it.
        """
        waits = self._waits if self._waits is not None else bool(finished_run(self, ticks, bound).takers())
        if not waits:
            return last
        return LATEST_TICK if self.plan.window is None else min(first + self.plan.window - 1, LATEST_TICK)

    @cached_property
    def _waits(self) -> bool | None:
        """Whether each match waits for the end of the window; None where that depends on what a run took."""
        place, ending = len(self.alternative.components) - 1, self.alternative.components[-1]
        if ending.negated:
            return place not in self.alternative.absent_anywhere
        if ending.running:
            return False
        return None if self._as_runs else ending.kleene and reading(self.plan).fills_window

    # --- one row of the table each ---------------------------------------------------------

    def _window_holds(self, ticks: Ticks, bound: Bound) -> bool:
        if self.plan.window is None:
            return True
        first, last = extent(ticks, bound)
        return last - first < self.plan.window

    def _timings_hold(self, ticks: Ticks, bound: Bound) -> bool:
        return all(
            timing_holds(timing, ticks, bound, self.alternative.repeated)
            for timing in self._timings
            if (timing.left is None or timing.left in bound)
            and (timing.right is None or timing.right in bound)
        ) and all(self._case_holds(cases, ticks, bound) for cases in self._choices)

    @cached_property
    def _timings(self) -> tuple[Timing, ...]:
        """Those between what a match binds."""
        every = (*self.alternative.timings, *self.alternative.member_timings)
        return tuple(each for each in every if not {each.left, each.right} & self.negated)

    @cached_property
    def _choices(self) -> tuple[Sequence[Sequence[Timing]], ...]:
        return tuple(cases for cases in self.alternative.choices if not named(cases) & self.negated)

    def _case_holds(self, cases: Sequence[Sequence[Timing]], ticks: Ticks, bound: Bound) -> bool:
        return any(all(timing_holds(timing, ticks, bound) for timing in case) for case in cases)

    def _negations_hold(self, ticks: Ticks, bound: Bound) -> bool:
        ends = ticks.ends
        for place, component in self._absent_alone:
            lo, hi = self._gap(ticks, bound, place)
            if any(
                lo < ticks[e] and ends[e] < hi and self._negated_holds(ticks, component, e, bound)
                for e in self.fitting(component, bound)
                if component not in self.alternative.absent_anywhere or e not in events_of(bound)
            ):
                return False
        return True

    @cached_property
    def _absent_alone(self) -> tuple[tuple[int, int], ...]:
        """The place of its block, and each negated component that is not part of a whole."""
        blocks = ((place, block) for place, block in enumerate(self.alternative.blocks) if self.negated)
        alone = ((place, block) for place, block in blocks if place not in self._absent_together)
        return tuple((place, j) for place, block in alone for j in block if j in self.negated)

    def _gap(self, ticks: Ticks, bound: Bound, place: int) -> tuple[Edge, Edge]:
        """Both ends, excluded, of the gap in which the negated block at `place` looks."""
        if len(self.alternative.blocks[place]) > 1 and place not in self._absent_together:
            return -math.inf, math.inf
        before, after = remembered(bound, ("beside", place), lambda: self._beside(bound, place))
        window = math.inf if self.plan.window is None else self.plan.window
        return (
            last_tick(ticks, before) if before else last_tick(ticks, events_of(bound)) - window,
            first_tick(ticks, after) if after else first_tick(ticks, events_of(bound)) + window,
        )

    def _beside(self, bound: Bound, place: int) -> tuple[list[int], list[int]]:
        """The bound events of the blocks before one, and of those after it."""
        blocks = self.alternative.blocks
        before, after = blocks[:place], blocks[place + 1 :]
        return [e for each in before for e in events_in(bound, each)], [
            e for each in after for e in events_in(bound, each)
        ]

    def _negated_holds(self, ticks: Ticks, component: int, event: int, bound: Bound) -> bool:
        """What remains to be checked for a negated event: predicates on finished groups, and its timings."""
        whole = self.binding(bound).longer(component, (event,))
        return (
            self._is_allowed(component, whole)
            and all(
                timing_holds(timing, ticks, whole)
                for timing in (*self.alternative.timings, *self.alternative.member_timings)
                if component in (timing.left, timing.right) and {timing.left, timing.right} <= {None, *whole}
            )
            and all(
                self._case_holds(cases, ticks, whole)
                for cases in self.alternative.choices
                if component in named(cases)
            )
        )

    @cached_property
    def _absent_together(self) -> tuple[int, ...]:
        """The places of the blocks of `!SEQ(...)` and `!AND(...)`: several components, all negated."""
        blocks = enumerate(self.alternative.blocks)
        return tuple(place for place, block in blocks if len(block) > 1 and set(block) <= self.negated)

    def _happens(self, ticks: Ticks, bound: Bound, place: int) -> bool:
        """Whether distinct events that the match does not bind make up what must not happen in its gap."""
        return happens(self, ticks, bound, self.alternative.blocks[place], self._gap(ticks, bound, place))


def timing_holds(timing: Timing, ticks: Ticks, bound: Bound, repeated: Sequence[Sequence[int]] = ()) -> bool:
    """`t(left) - t(right) <= bound`, or `!=`, for each member of either side; None is the tick 0.

    Two components that are `repeated` together are compared within each repetition.
    """
    lefts, rights = (ticks.ends if end else ticks for end in (timing.left_end, timing.right_end))
    left = [0] if timing.left is None else [lefts[e] for e in bound[timing.left]]
    right = [0] if timing.right is None else [rights[e] for e in bound[timing.right]]
    if isinstance(timing, MemberTiming):
        left, right = _of_member(left, timing.left_member), _of_member(right, timing.right_member)
        in_turn = False
    else:
        in_turn = any({timing.left, timing.right} <= {*each} for each in repeated)
    gaps = [a - b for i, a in enumerate(left) for j, b in enumerate(right) if i == j or not in_turn]
    return all(gap != timing.bound if timing.not_equal else gap <= timing.bound for gap in gaps)


def _of_member(ticks: list[int], which: str | None) -> list[int]:
    """Of the ticks of a group in order that of its first or last member, or all of them."""
    return {None: ticks, "first": ticks[:1], "last": ticks[-1:]}[which]


def named(cases: Sequence[Sequence[Timing]]) -> set[int | None]:
    """The components that a choice between cases speaks of."""
    return {side for case in cases for timing in case for side in (timing.left, timing.right)}


def happens(
    search: Bindable, ticks: Ticks, bound: Bound, block: tuple[int, ...], gap: tuple[Edge, Edge]
) -> bool:
    """Whether some events make up the whole between both ends, excluded, of a gap."""
    return _rest_happens(search, ticks, bound, block, *gap, in_order=block in search.alternative.sequences)


def _rest_happens(
    search: Bindable,
    ticks: Ticks,
    whole: Bound,
    rest: Sequence[int],
    lo: Edge,
    hi: Edge,
    *,
    in_order: bool,
) -> bool:
    """`whole`: what is bound, the parts before these among it."""
    if not rest:
        return True
    used, part = {e for group in whole.values() for e in group}, rest[0]
    for e in search.fitting(part, whole):
        longer = {**whole, part: (e,)}
        if (
            e not in used
            and lo < ticks[e]
            and ticks.ends[e] < hi
            and search.links_hold(part, longer, (Scope.ORDER, Scope.GROUP))
        ):
            after = ticks.ends[e] if in_order else lo
            if _rest_happens(search, ticks, longer, rest[1:], after, hi, in_order=in_order):
                return True
    return False
