"""Interval events in a diagnosis: what each condition asks of their starts and ends, and one match of them.

A join counts by the hulls of the events, from the first possible start to the last possible end; whether
starts and ends can satisfy what is asked is looked at for each partial match that it lists.  Of one match
the ticks that starts and ends can use are shown, and its confidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product

import numpy as np

from cepctl.engines.columns.bindings import Bindings, events_in
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.predicates import fitting_events
from cepctl.engines.confidence.intervals.conditions import (
    CONSTANT,
    MAX_CASES,
    Case,
    Edge,
    edges_of,
    hull_system,
    place_of,
    unequal,
)
from cepctl.engines.confidence.intervals.measure import IntervalMeasure, ticks_left
from cepctl.engines.confidence.intervals.rows import measured, valid
from cepctl.engines.confidence.intervals.search import IntervalSearch, by_size, possible_events
from cepctl.engines.diagnosis.conditions import (
    Condition,
    Conditions,
    TimeDemand,
    orders,
    timing_text,
    window_condition,
)
from cepctl.engines.diagnosis.failed_conditions import Reason, reasons_against
from cepctl.engines.diagnosis.posteriors import bin_ticks, endpoint_spans, shares_under_way
from cepctl.engines.diagnosis.shown import (
    BoundMember,
    EventShown,
    Factor,
    OneMatch,
    TickSpan,
    bin_edges,
    event_shown,
    logged_nanoseconds,
)
from cepctl.engines.diagnosis.worlds_left import WorldsLeft, clauses_against, given_shown
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.preparing import prepared_alternative
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.solve.stated import methods_named
from cepctl.errors import QueryTooLargeError
from cepctl.language.ast import Allen
from cepctl.language.printer import expression_to_text
from cepctl.language.traversal import conjuncts
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.plan.plan import Alternative, Plan, Timing
from cepctl.plan.relations import related, relations_in_words
from cepctl.plan.summary import with_one_member
from cepctl.plan.support import refuse_lasting_groups, require_engine
from cepctl.plan.timings import Difference
from cepctl.schema import END_TIME

_TIMES = Condition("timing", "the conditions on starts and ends, their order and the window")
_NOBODY = Condition("absence", "nothing happens that must be absent")
_RIVAL = Condition("absence", "an event that must be absent")


@dataclass(frozen=True)
class EndpointDemand(TimeDemand):
    """One demand on starts and ends: the edges of one of its `cases` have to hold, over places.

    `edges` say which columns it speaks of.
    """

    cases: tuple[Case, ...] = ()

    @classmethod
    def of(cls, kind: Condition, cases: Sequence[Sequence[Edge]], *, loosened: bool = True) -> EndpointDemand:
        """A demand by its cases."""
        edges = tuple(
            (max(i, j) // 2 if i == CONSTANT else i // 2, max(i, j) // 2 if j == CONSTANT else j // 2, bound)
            for i, j, bound in chain.from_iterable(cases)
        )
        return cls(kind, edges, loosened, tuple(tuple(each) for each in cases))

    def wider(self, ticks: int) -> EndpointDemand:
        """A demand that allows this many ticks more."""
        wider = tuple(tuple((i, j, min(c + ticks, UNBOUNDED)) for i, j, c in case) for case in self.cases)
        return replace(self, cases=wider)


@dataclass(frozen=True)
class IntervalConditions(Conditions):
    """Conditions whose demands on times speak of the starts and ends of the events."""

    events: Events

    @classmethod
    def of_endpoints(cls, plan: Plan, alternative: Alternative, events: Events) -> IntervalConditions:
        """Take an alternative apart.

        Raises
        ------
        UnsupportedQueryError
            If the alternative has a construct that does not stand beside interval events.
        """
        require_engine(plan, "event", lasting=True)
        fitting = tuple(fitting_events(events, each) for each in alternative.components)
        candidates = possible_events(events, fitting)
        demands = tuple(_demands(plan, alternative))
        for i, component in enumerate(alternative.components):
            if component.kleene:
                if events.last([candidates[i]]):
                    refuse_lasting_groups(component)
                alternative = with_one_member(alternative, i)
        return cls(alternative, plan.partition_by, demands, candidates, events)

    def system_of(self, differences: tuple[TimeDemand, ...]) -> Ticks:
        """What the demands say of the hulls of columns."""
        count = len(self.columns)
        found = hull_system(_cases(differences, count), count)
        return np.full((count, count), -1, dtype=np.int64) if found is None else found

    def held(self, asked: Sequence[TimeDemand], rows: Indexes) -> Flags:
        """Which partial matches, shape (n, columns), some starts and ends let hold all of these demands.

        Those of clocks are anywhere in their envelopes.
        """
        ends = replace(self.events.endpoints, masses=self._envelopes)
        return _some_hold(IntervalMeasure(_cases(asked, rows.shape[1]), ends), rows)

    def hold(self, rows: Indexes) -> Flags:
        """Which partial matches, shape (n, columns), hold all demands, with one offset for each clock."""
        return _some_hold(IntervalMeasure.of(self.events, _cases(self.differences, rows.shape[1])), rows)

    def on_clocks(self, clocks: EventClocks, rows: Indexes) -> Flags:
        """These conditions: the clocks are those of the events."""
        return self.hold(rows)

    def widened(self, demand: TimeDemand, ticks: int) -> IntervalConditions:
        """The conditions with a demand that allows this many ticks more."""
        wider = (each.wider(ticks) if each is demand else each for each in self.differences)
        return replace(self, differences=tuple(wider))

    @cached_property
    def _envelopes(self) -> Masses:
        return self.events.endpoint_stamps.envelopes


def _some_hold(measure: IntervalMeasure, rows: Indexes) -> Flags:
    if not len(rows):
        return np.zeros(0, dtype=bool)
    lower, upper = ticks_left(measure, rows)
    return np.asarray((lower <= upper).all(axis=1))


def nearest_miss(
    conditions: IntervalConditions, demand: TimeDemand, rows: Indexes
) -> tuple[int, int, int] | None:
    """How many partial matches a demand alone rules out, one that misses it by the least, and by how much.

    `rows` hold all other demands.  None if there is none.
    """
    ruled_out = np.flatnonzero(~conditions.hold(rows))
    left = ruled_out[:: max(1, -(-len(ruled_out) // _MOST_WIDENED))]
    least, most = 0, 1
    while len(left):
        near = left[conditions.widened(demand, most).hold(rows[left])]
        if len(near) or most >= UNBOUNDED:
            left = near
            break
        least, most = most, min(2 * most, UNBOUNDED)
    while len(left) and most - least > 1:
        middle = least + (most - least) // 2
        near = left[conditions.widened(demand, middle).hold(rows[left])]
        if len(near):
            left, most = near, middle
        else:
            least = middle
    return (len(ruled_out), int(left[0]), most) if len(left) else None


_MOST_WIDENED = 1 << 16
"""So many partial matches at most are asked by how much they miss a demand."""


def _cases(differences: Sequence[TimeDemand], columns: int) -> tuple[Case, ...]:
    """Every choice of cases of some demands, as far as the first columns are concerned."""
    choices = []
    for each in differences:
        assert isinstance(each, EndpointDemand)
        bound = (tuple(edge for edge in case if max(edge[:2]) < 2 * columns) for case in each.cases)
        choices.append(tuple(dict.fromkeys(bound)))
    count = int(np.prod([len(each) for each in choices], dtype=float))
    if count > MAX_CASES:
        raise QueryTooLargeError(
            f"unions of relations and `<>` between times make {count:,} cases, {MAX_CASES} are the most"
        )
    return tuple(tuple(chain.from_iterable(chosen)) for chosen in product(*choices))


def _demands(plan: Plan, alternative: Alternative) -> Iterator[EndpointDemand]:
    """The demands on the positive components: order, window, relations and other conditions on times."""
    for condition, pairs, loosened in orders(alternative):
        edges = [
            (place_of(alternative, i, end=True), place_of(alternative, j, end=False), -1) for i, j in pairs
        ]
        yield EndpointDemand.of(condition, [edges], loosened=loosened)
    if plan.window is not None:
        places = product(range(len(alternative.positive)), repeat=2)
        within = [(2 * i + 1, 2 * j, plan.window - 1) for i, j in places]
        yield EndpointDemand.of(window_condition(plan), [within])
    timings, choices = list(alternative.timings), list(alternative.choices)
    for text, cases in _relations(plan, alternative):
        if len(cases) == 1:
            timings = [each for each in timings if each not in cases[0]]
        else:
            choices = [each for each in choices if each != cases]
        yield _of_timings(alternative, text, cases)
    for cases in choices:
        if not _names_absent(alternative, cases):
            yield _of_timings(alternative, "one of several relations", cases)
    for timing in timings:
        if not _names_absent(alternative, [[timing]]):
            own = unequal(timing) if timing.not_equal else ((timing,),)
            yield _of_timings(alternative, timing_text(alternative, timing), own)


def _relations(plan: Plan, alternative: Alternative) -> Iterator[tuple[str, tuple[tuple[Timing, ...], ...]]]:
    """The relations of WHERE between positive components, as written, and their cases."""
    number = {alternative.components[i].variable.lower(): i for i in alternative.positive}
    for each in conjuncts(plan.query.where):
        if isinstance(each, Allen) and {each.left.lower(), each.right.lower()} <= set(number):
            cases = tuple(
                tuple(_timing(one, number) for one in case) for case in related(each, plan.time_unit)
            )
            yield expression_to_text(each), cases


def _timing(difference: Difference, number: Mapping[str, int]) -> Timing:
    left, right = (None if name is None else number[name] for name in (difference.left, difference.right))
    ends = difference.left_end, difference.right_end
    return Timing(left, right, difference.bound, False, *ends)


def _names_absent(alternative: Alternative, cases: Sequence[Sequence[Timing]]) -> bool:
    sides = {side for case in cases for each in case for side in (each.left, each.right)}
    return any(side is not None and alternative.components[side].negated for side in sides)


def _of_timings(alternative: Alternative, text: str, cases: Sequence[Sequence[Timing]]) -> EndpointDemand:
    edges = [list(edges_of(alternative, case)) for case in cases]
    return EndpointDemand.of(Condition("timing", text), edges)


def interval_match(
    prepared: PreparedAlternative, bound: dict[int, Bindings], bins: int, stamped: Events
) -> OneMatch:
    """Explain a match some of whose events are interval events, or whose ends are compared.

    `stamped` are the events in all worlds, of which what is given may leave some.

    Raises
    ------
    QueryTooLargeError
        If the match needs more work than is allowed.
    """
    events, alternative = prepared.events, prepared.alternative
    (search,) = prepared.lasting
    ((search, matches, _),) = by_size(search, list(bound.values()))
    event = matches[0]
    variables = [alternative.components[i].variable for i in bound for _ in events_in(bound[i])]
    lower, upper = valid(search.measure, matches)
    alone = measured(replace(search.measure, rivals=None), matches)
    names: list[str] = []
    found = prepared.decided(bound, [], names.append)
    reasons = reasons_against(prepared, bound)
    if not reasons and alone.start[0] > alone.end[0]:
        reasons = _times_against(prepared, stamped, list(bound.values()))
    elif not reasons and found.start[0] > found.end[0]:
        reasons = (Reason(_RIVAL),)
    edges = bin_edges(*_hull(stamped, event), bins)
    members = tuple(
        _member(stamped, variable, int(event[at]), edges, lower[0], upper[0], at)
        for at, variable in enumerate(variables)
    )
    words = relations_in_words(prepared.plan.query)
    shown = OneMatch(prepared.plan, alternative, events, members, edges, tuple(reasons), relations=words)
    if reasons:
        return shown
    factors = [Factor(_TIMES, float(alone.confidence[0]))]
    if search.measure.rivals is not None:
        factors.append(Factor(_NOBODY, float(found.confidence[0])))
    return replace(
        shown,
        start=int(found.start[0]),
        end=int(found.end[0]),
        confidence=float(found.confidence[0]),
        factors=tuple(factors),
        methods=methods_named(names),
        given=given_shown(prepared, stamped, bound),
    )


def _times_against(
    prepared: PreparedAlternative, stamped: Events, bound: Sequence[Bindings]
) -> tuple[Reason, ...]:
    """Why no world holds the times of one match: they, or each clause that alone is enough, else all."""
    if not _happens(prepared, stamped, bound):
        return (Reason(_TIMES),)
    left = WorldsLeft(prepared.plan, stamped).alone
    return clauses_against(prepared.plan.given, lambda at: _happens(prepared, left[at], bound))


def _happens(prepared: PreparedAlternative, events: Events, bound: Sequence[Bindings]) -> bool:
    """Whether one match has a world among those of some events, if nothing must be absent."""
    search, matches = _search(prepared, events, bound)
    found = measured(replace(search.measure, rivals=None), matches)
    return bool(found.start[0] <= found.end[0])


def _search(
    prepared: PreparedAlternative, events: Events, bound: Sequence[Bindings]
) -> tuple[IntervalSearch, Indexes]:
    """How one match is found among events of which nothing more is given; and the match, shape (1, l)."""
    plan = replace(prepared.plan, given=())
    (search,) = prepared_alternative(
        plan, prepared.alternative, events, prepared.options, of_intervals=True
    ).lasting
    ((search, matches, _),) = by_size(search, bound)
    return search, matches


def _member(
    events: Events, variable: str, event: int, edges: Reals, lower: Indexes, upper: Indexes, at: int
) -> BoundMember:
    shown = interval_shown(events, event, edges)
    valid = [(int(lower[place]), int(upper[place])) for place in (2 * at, 2 * at + 1)]
    return BoundMember(variable, shown, *valid[0], None, None if shown.until is None else TickSpan(*valid[1]))


def interval_shown(events: Events, event: int, edges: Reals) -> EventShown:
    """An event; of one that lasts each bin says how probable it is to be under way, times its ticks."""
    ends = events.endpoints
    shown = event_shown(events, event, edges)
    if ends.end[event] == event:
        return shown
    first, last = bin_ticks(edges)
    middle = (first & last) + ((first ^ last) >> 1)
    inside = shares_under_way(events, event, middle) * np.maximum(last - first + 1, 1)
    spans = endpoint_spans(events)
    until = TickSpan(int(spans.lower[ends.end[event]]), int(spans.upper[ends.end[event]]))
    raw = logged_nanoseconds(events, END_TIME, event)
    return replace(shown, prior=inside, until=until, raw_end_nanoseconds=raw)


def _hull(events: Events, event: Indexes) -> tuple[int, int]:
    hulls = events.hulls
    return int(hulls.lower[event].min()), int(hulls.upper[event].max())
