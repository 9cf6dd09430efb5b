"""What runs: a query resolved against an event schema, frozen, picklable and printable.

An analyzed query is a list of OR-free alternatives.  Each is a row of blocks in time order
(a block is one component, or the members of an AND group) together with the predicates,
sorted by what an engine does with them:

    filters      of one component       become filters on the stored events
    links        between components     decide whether an event fits, given those before it
    timings      difference constraints select worlds, never decide who fits
    partition_by equality of all        become the key that events are split by

Variables are in lower case here and unique within an alternative; an unnamed component has
its event type as variable, spelt as in the query.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import chain, product
from typing import TYPE_CHECKING, TypeVar

from cepctl.clocks.shared import Clocks
from cepctl.language.ast import Expression, MemberIndex, Probability, Query, ReachedTick
from cepctl.language.strategies import SKIP_TILL_ANY_MATCH, Absent, Strategy
from cepctl.language.traversal import walk
from cepctl.laws.law import OrderLaw
from cepctl.schema import TimeUnit

if TYPE_CHECKING:
    import pyarrow as pa

CONFIDENCE_ERROR = "confidence_error"
"""The column of matches that bounds the error of each confidence, where one may be estimated."""

OCCURRENCE_ERROR = "occurrence_error"
"""The column of groups that bounds the error of each occurrence, where one may be estimated."""

EXPECTED_ERROR = "expected_error"
"""The same of the expected numbers of matches: the errors of their confidences, added up."""

FOUND_AT_RAW_TIMES = "cepctl found at raw times"
"""The column of matches that says whether raw times alone find them; it is counted and never shown."""


@dataclass(frozen=True)
class Component:
    """One component of the pattern.

    `event_types` is empty for any type.  `ordered` marks a Kleene component that some predicate
    over order reads, and under next match one written `{m,n}`: its group is a sequence with strictly
    increasing ticks, not a set.  `least` and `most` bound the number of members of a group, `most` None for
    any number; of what another reading leaves out, `least` is 0.  `running`: a match ends with each tick at
    which the group took, and nothing but its last member closes the group.
    `filters` read this component's own attributes only (for a Kleene one as `b[i].x`).
    """

    variable: str
    event_types: tuple[str, ...]
    negated: bool = False
    kleene: bool = False
    ordered: bool = False
    filters: tuple[Expression, ...] = ()
    least: int = 1
    most: int | None = None
    running: bool = False

    @property
    def counted(self) -> bool:
        """Whether it is a group that not every number of events makes."""
        return self.kleene and (self.least > 1 or self.most is not None)

    @property
    def is_set(self) -> bool:
        """Whether it is a group without order."""
        return self.kleene and not self.ordered

    def fills_window(self, strategy: Strategy) -> bool:
        """Whether a group at the end of the pattern takes what it can until the window ends."""
        return strategy.absent is Absent.NEARER and not self.running


class Scope(Enum):
    """When a predicate that links components can be judged."""

    EVENT = "event"  # each event bound to `decides`, given the components before it
    ORDER = "order"  # reads b[i-k], b[1..i-1], b[1..i], b[first], b[last]: needs the group's order
    GROUP = "group"  # aggregates over a whole Kleene group: filters the finished group


@dataclass(frozen=True)
class Link:
    """A predicate over several components (or over the members of one Kleene group).

    `components` are the indexes, in pattern order, of all components it reads; `decides` is the
    one at whose binding it is checked: the last positive one, or the negated one if it reads one.
    """

    expression: Expression
    components: tuple[int, ...]
    decides: int
    scope: Scope = Scope.EVENT


@dataclass(frozen=True)
class Equality:
    """`left.attribute = right.attribute`: a link (it also stands in `links`) usable as join key."""

    left: int
    left_attribute: str
    right: int
    right_attribute: str


@dataclass(frozen=True)
class Timing:
    """A timing constraint `t(left) - t(right) <= bound` in ticks; `!=` when `not_equal`.

    `left` or `right` is None for the constant 0 (an ISO constant is then in `bound`).  A Kleene
    component means each of its members.  Equality is two constraints.  When one side is a negated
    component the constraint is part of that component's fitting.  The tick of an interval event is its
    start; `left_end` and `right_end` say that its end is meant.
    """

    left: int | None
    right: int | None
    bound: int
    not_equal: bool = False
    left_end: bool = False
    right_end: bool = False


@dataclass(frozen=True)
class MemberTiming(Timing):
    """A timing constraint of which a side is `b[first]` or `b[last]`; None for each member, or one event."""

    left_member: MemberIndex | None = None
    right_member: MemberIndex | None = None


AnyTiming = TypeVar("AnyTiming", bound=Timing)


def members_of_sides(timing: Timing) -> tuple[MemberIndex | None, MemberIndex | None]:
    """Which member of a group each side of a timing constraint means, None for each of them."""
    return (timing.left_member, timing.right_member) if isinstance(timing, MemberTiming) else (None, None)


@dataclass(frozen=True)
class Alternative:
    """One OR-free reading of the pattern: components in pattern order, blocks in time order.

    `blocks` holds the indexes of components; a negated component is a block of its own and
    stands in the gap between its neighbours (leading or trailing if it has none on that side); but one in a
    block with positive components, which ISEQ makes, is absent wherever its conditions hold.
    Of each of `choices` the timings of one case hold, and no two cases can at once (`a OVERLAPS|DURING b`).
    `absent` are the variables of what may be absent and this reading leaves out.
    A block of several negated components is what must not happen as a whole: in strict order if it is one of
    `sequences`, else in any.  `member_timings` are timings of the first or last member of a group.
    `passes_over`: matches leave out what may be absent, and no reading without it stands beside this one.
    `passed_over`: negated components that stand for what may be absent and next match passes over.
    `repeated`: components that take events in turn, all as often; each is a group in order, and rows show all
    of their events together.
    `orders`: pairs of components of one block, the first of which a branch of AND has before the other; they
    are among the timings, too.
    `sets`: blocks of single events that stand for the members of a group without order.
    """

    components: tuple[Component, ...]
    blocks: tuple[tuple[int, ...], ...]
    links: tuple[Link, ...] = ()
    equalities: tuple[Equality, ...] = ()
    timings: tuple[Timing, ...] = ()
    choices: tuple[tuple[tuple[Timing, ...], ...], ...] = ()
    absent: tuple[str, ...] = ()
    sequences: tuple[tuple[int, ...], ...] = ()
    member_timings: tuple[MemberTiming, ...] = ()
    passes_over: bool = False
    repeated: tuple[tuple[int, ...], ...] = ()
    orders: tuple[tuple[int, int], ...] = ()
    passed_over: tuple[int, ...] = ()
    sets: tuple[tuple[int, ...], ...] = ()

    def turn(self, component: int) -> tuple[int, ...]:
        """The components that take events in turn with one, itself among them."""
        return next((each for each in self.repeated if component in each), (component,))

    def right_behind(self, component: int) -> tuple[int, ...]:
        """The positive components that may take right after one: the next ones, up to one that has to."""
        behind = [i for i in self.positive if i > component]
        sure = next((at for at, i in enumerate(behind) if self.components[i].least), len(behind))
        return tuple(behind[: sure + 1])

    @cached_property
    def left_out(self) -> tuple[tuple[int, ...], ...]:
        """Each choice of the components that are absent in matches which pass over what may be; else none.

        In the order of an OR of the pattern with and without each.
        """
        optional = [i for i in self.positive if self.passes_over and not self.components[i].least]
        every = product(*(((), (i,)) for i in optional))
        choices = (tuple(chain.from_iterable(each)) for each in every)
        return tuple(absent for absent in choices if len(absent) < len(self.positive))

    @cached_property
    def takes_in_order(self) -> bool:
        """Whether it takes one event after the other where what is taken depends on what was."""
        return self.passes_over or self.ties_members or any(each.ordered for each in self.components)

    @cached_property
    def ties_members(self) -> bool:
        """Whether members of a group inside AND are bound one by one: order or times are asked of them."""
        timings = (*self.timings, *self.member_timings)
        timed = {side for each in timings for side in (each.left, each.right)}
        return any(
            any(self.components[i].kleene for i in block)
            and (bool(timed & {*block}) or any(self.components[i].ordered for i in block))
            for block in self.positive_blocks
            if len(block) > 1
        )

    @cached_property
    def reads_taken(self) -> bool:
        """Whether what a component takes depends on which members a group has taken, and in which order."""
        return self.passes_over or self._reads_members

    @cached_property
    def _read_later(self) -> tuple[Component, ...]:
        """The components on which it depends who fits a later one."""
        return tuple(
            self.components[i]
            for link in self.links
            for i in link.components
            if i < link.decides and not self.components[link.decides].negated
        )

    @cached_property
    def _reads_members(self) -> bool:
        """Whether it has a group in order, or a component that reads a group before it."""
        return any(each.ordered for each in self.components) or any(each.kleene for each in self._read_later)

    @cached_property
    def leaves_out_sets(self) -> bool:
        """Whether matches leave out what may be absent, beside groups all of which take what fits at once.

        Not where who fits depends on whether what may be absent has taken: that is known event by event.
        """
        some = any(each.kleene for each in self.components)
        reads_optional = any(not each.least for each in self._read_later)
        return self.passes_over and some and not (self._reads_members or reads_optional)

    def in_runs(self, strategy: Strategy) -> bool:
        """Whether its matches take one event after the other, each by what was taken before."""
        if self.repeated or (self.ties_members and not strategy.asks_others):
            return True
        if strategy.absent is Absent.NEARER:
            return self.reads_taken and not self.leaves_out_sets
        return strategy.asks_others and any(each.ordered for each in self.components)

    @property
    def reads_ends(self) -> bool:
        """Whether a condition speaks of the end of an event, so that its start alone says too little."""
        ends = any(each.left_end or each.right_end for each in (*self.timings, *self.member_timings))
        anywhere = set(self.absent_anywhere) - set(self.absent_in_branches)
        return ends or bool(self.choices or anywhere)

    @cached_property
    def absent_anywhere(self) -> tuple[int, ...]:
        """Negated components that no gap holds, but conditions on their times alone."""
        groups = (block for block in self.blocks if len(block) > 1 and block not in self.absent_together)
        return tuple(i for block in groups for i in block if self.components[i].negated)

    @cached_property
    def absent_in_branches(self) -> tuple[int, ...]:
        """Negated components between two others of a branch of AND."""
        ordered = {i for pair in self.orders for i in pair}
        return tuple(i for i in self.absent_anywhere if i in ordered)

    @cached_property
    def absent_together(self) -> tuple[tuple[int, ...], ...]:
        """The blocks of `!SEQ(...)` and `!AND(...)`."""
        several = (block for block in self.blocks if len(block) > 1)
        return tuple(block for block in several if all(self.components[i].negated for i in block))

    @cached_property
    def positive_blocks(self) -> tuple[tuple[int, ...], ...]:
        """The positive components of each block, in time order."""
        blocks = (tuple(i for i in block if not self.components[i].negated) for block in self.blocks)
        return tuple(block for block in blocks if block)

    @cached_property
    def lead(self) -> tuple[int, ...]:
        """The positive components up to those of the last AND; none without AND."""
        last = max((block[-1] for block in self.positive_blocks if len(block) > 1), default=-1)
        return tuple(i for i in self.positive if i <= last)

    def decided_by_window(self, strategy: Strategy) -> bool:
        """Whether a match is decided only as its window ends.

        So it is after a trailing negation, and after a trailing group that fills the window.
        """
        last = self.components[-1]
        if last.negated:
            return len(self.components) - 1 not in self.absent_anywhere
        return last.kleene and last.most != last.least and last.fills_window(strategy)

    @cached_property
    def positive(self) -> tuple[int, ...]:
        """Indexes of the components that a match binds, in pattern order."""
        return tuple(i for i, component in enumerate(self.components) if not component.negated)


@dataclass(frozen=True)
class Given:
    """What every world must satisfy: each combination of distinct events that fits is in order and window.

    `alternative`: its components, and its condition as their filters and links; `window` in ticks, None for
    none.  `text` is the clause as written.
    """

    text: str
    alternative: Alternative
    window: int | None = None


@dataclass(frozen=True)
class ReturnColumn:
    """One RETURN column: expressions read attributes as the query does; type is its Arrow type."""

    name: str
    expression: Expression
    type: pa.DataType


@dataclass(frozen=True)
class Plan:
    """A query ready to run.

    `window` is W in ticks: last tick - first tick of a match < W.  `attributes` are the attribute columns
    that some expression reads.  `group_by` are the keys of groups, empty for one group of all matches,
    None where rows are matches; `minimum_confidence` then speaks of occurrences.  `never` says why the
    query can never match, if so.  `clocks` are those of the events, whose offsets are part of every world.
    `given` is what every world satisfies, whether query or dataset say so.
    `lasting` says whether some event has an end of its own.  `laws` are the laws of order by which worlds are
    weighed; a plan without one is as if there were none.  Where it is `in_units`, what is given ties events
    of the same interval alone.
    """

    query: Query
    time_unit: TimeUnit
    alternatives: tuple[Alternative, ...]
    strategy: Strategy = SKIP_TILL_ANY_MATCH
    window: int | None = None
    partition_by: tuple[str, ...] = ()
    minimum_confidence: float | None = None
    returns: tuple[ReturnColumn, ...] = ()
    group_by: tuple[ReturnColumn, ...] | None = None
    attributes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)
    never: str | None = None
    clocks: Clocks = field(default_factory=dict, hash=False)
    given: tuple[Given, ...] = ()
    lasting: bool = False
    laws: tuple[OrderLaw, ...] = field(default=(), hash=False)
    in_units: bool = False

    @property
    def tick_columns(self) -> tuple[str, ...]:
        """The columns of RETURN that are ticks, and shown as `start` and `end` are."""
        return tuple(each.name for each in self.returns if isinstance(each.expression, ReachedTick))

    @cached_property
    def asks_probabilities(self) -> bool:
        """Whether some predicate asks `prob(...)`."""
        asked = (
            expression
            for each in self.alternatives
            for expression in (
                *(link.expression for link in each.links),
                *(own for component in each.components for own in component.filters),
            )
        )
        return any(isinstance(part, Probability) for expression in asked for part in walk(expression))

    @property
    def apart_by_key(self) -> bool:
        """Whether events of each key of the partition can be matched by themselves."""
        # Another attribute beside that of a law would cut its keys.
        cut = any(self.partition_by != (law.by,) for law in self.laws)
        return bool(self.partition_by) and not (self.strategy.crosses_keys or self.given or cut)

    @property
    def of_intervals(self) -> bool:
        """Whether a match may depend on the end of an event."""
        return self.lasting or any(each.reads_ends for each in self.alternatives)
