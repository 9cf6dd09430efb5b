"""One match by its signature: the ticks its events can use, its rivals, and how its confidence comes about.

Where a signature is not a match, the reasons say which condition it fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np
import pyarrow as pa

from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.events import Events, events_of
from cepctl.engines.columns.predicates import bound_by_component
from cepctl.engines.confidence.given.known import known_events
from cepctl.engines.confidence.work import ORDERS
from cepctl.engines.diagnosis.complete_bindings import RunReading, run_readings
from cepctl.engines.diagnosis.conditions import Condition
from cepctl.engines.diagnosis.failed_conditions import Reason, demands_of, reasons_against, times_against
from cepctl.engines.diagnosis.interval_conditions import interval_match
from cepctl.engines.diagnosis.posteriors import posterior_shares
from cepctl.engines.diagnosis.shown import (
    MOST_RIVALS,
    AllReadings,
    BoundMember,
    OneMatch,
    bin_edges,
    event_shown,
    with_confidence,
)
from cepctl.engines.diagnosis.valid_intervals import shared_offsets, valid_of
from cepctl.engines.diagnosis.worlds_left import given_against, given_shown
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.own_laws import with_own_laws
from cepctl.engines.event.preparing import prepared_alternative
from cepctl.engines.event.run_alternative import RunAlternative
from cepctl.engines.event.runs_prepared import one_run
from cepctl.engines.event.union import united
from cepctl.engines.pattern.blocks import Rivals
from cepctl.engines.pattern.difference_constraints import possible
from cepctl.engines.solve.stated import methods_named
from cepctl.errors import QueryTooLargeError, UsageError
from cepctl.laws.choices import MOST_SETS_ALIVE
from cepctl.numeric.arrays import Reals
from cepctl.plan.passed_over import readings_apart
from cepctl.plan.plan import Alternative, Component, Plan
from cepctl.plan.support import refuse_intervals, require_engine

Ids = tuple[tuple[str, ...], ...]


def ids_of(text: str) -> Ids:
    """The ids of a signature as the column `match` has it.

    Examples
    --------
    >>> ids_of("a%201 b1+b2")
    (('a 1',), ('b1', 'b2'))
    """

    def decoded(name: str) -> str:
        return name.replace("%2B", "+").replace("%20", " ").replace("%25", "%")

    parts = (part for part in text.split(" ") if part)  # another blank is part of an id
    return tuple(tuple(decoded(name) for name in part.split("+")) for part in parts)


def one_match(
    plan: Plan, table: pa.Table, signature: Ids, bins: int = 60, law_limit: int = MOST_SETS_ALIVE
) -> OneMatch:
    """Explain the match of some events.

    `signature`: ids in pattern order, those of a group together.  `bins`: how many bins the drawing has.
    `law_limit`: of how many sets alive a key is too much work under a law of order.

    Raises
    ------
    UsageError
        If an id is unknown, or the number of components is not that of the pattern.
    EventSchemaError
        If an interval or pmf is wrong.
    ContradictionError
        If no world satisfies what is given.
    """
    events = with_own_laws(events_of(table, plan.clocks))
    rows = _rows(events, signature)
    every = [reading for each in readings_apart(plan) for reading in run_readings(each)]
    fitting = [each for each in every if _has_form(each.shown, signature)]
    if not fitting:
        raise UsageError(_wrong_form([each.shown for each in every], signature))
    of_intervals = events.last(np.array(part, dtype=np.int64) for part in rows)
    of_intervals |= any(each.reads_ends for each in plan.alternatives)
    require_engine(plan, "event", lasting=of_intervals)
    known = known_events(plan, events)
    if of_intervals and any(each.of.repeated for each in fitting):
        refuse_intervals("SEQ(...)+")
    asked = [_Asked.of(plan, each, known, rows, of_intervals=of_intervals) for each in fitting]
    found = [(each, _explained(each, events, bins)) for each in asked]
    matching = [(each, shown) for each, shown in found if not shown.reasons]
    if not matching:
        return min((shown for _, shown in found), key=lambda shown: len(shown.reasons))
    (_, first), *others = matching
    if not others:
        return _under_law(first, known, rows, law_limit)
    return replace(first, other_readings=len(others), whole=_all_readings([each for each, _ in matching]))


@dataclass(frozen=True)
class _Asked:
    """A reading, and the events as its match; `run`, where it takes one event after the other."""

    prepared: PreparedAlternative
    bound: dict[int, Bindings]
    run: tuple[RunAlternative, dict[int, Bindings]] | None

    @classmethod
    def of(
        cls, plan: Plan, reading: RunReading, known: Events, rows: Sequence[tuple[int, ...]], *,
        of_intervals: bool,
    ) -> _Asked:  # fmt: skip
        """A reading of the match in the worlds that remain."""
        shown = reading.shown
        prepared = prepared_alternative(plan, shown, known, MatchOptions(), of_intervals=of_intervals)
        bound = _bound(shown, known, rows)
        in_runs = reading.of.in_runs(plan.strategy) and not prepared.lasting
        return cls(prepared, bound, one_run(prepared, reading.of, bound) if in_runs else None)

    @property
    def measured(self) -> tuple[PreparedAlternative, dict[int, Bindings]]:
        """What is measured."""
        return self.run or (self.prepared, self.bound)

    @property
    def written(self) -> tuple[Alternative, dict[int, Bindings]]:
        """What is shown: of repetitions a pattern that writes each, SEQ(B b[1], C c[1], B b[2], C c[2])."""
        if self.run is None or not self.prepared.alternative.repeated:
            return self.prepared.alternative, self.bound
        run, bound = self.run
        components, seen = list(run.alternative.components), Counter[int]()
        for place, i in zip(run.search.singles, run.form_of.taken, strict=True):
            seen[i] += 1
            if run.form_of.reading.components[i].kleene:
                name = f"{components[place].variable}[{seen[i]}]"
                components[place] = replace(components[place], variable=name)
        return replace(run.alternative, components=tuple(components)), bound


def _under_law(match: OneMatch, events: Events, rows: Sequence[tuple[int, ...]], law_limit: int) -> OneMatch:
    """A match with its confidence under the laws of its plan; no posterior of its events is known then."""
    if not match.plan.laws:
        return match
    from cepctl.engines.diagnosis.worlds_left import law_shown

    prepared = prepared_alternative(match.plan, match.alternative, events, MatchOptions())
    law = law_shown(prepared, _bound(match.alternative, events, rows), match.confidence, law_limit)
    if law is None:
        return match
    members = tuple(replace(each, posterior=None) for each in match.members)
    methods = (*methods_named([ORDERS]), *match.methods)
    return replace(match, confidence=law.confidence, law=law, members=members, methods=methods)


def _all_readings(matching: Sequence[_Asked]) -> AllReadings | None:
    """The row of one signature that each of some readings can return; None where it costs too much."""
    measured = [each.measured for each in matching]
    try:
        batches = [[prepared.measured(bound, None)] for prepared, bound in measured]
        ((_, row),) = united([prepared for prepared, _ in measured], batches)
    except QueryTooLargeError:
        return None
    return AllReadings(int(row.start[0]), int(row.end[0]), float(row.confidence[0]))


def _rows(events: Events, signature: Ids) -> tuple[tuple[int, ...], ...]:
    """Row numbers of ids; names the nearest known id where one is unknown."""
    wanted = [name for part in signature for name in part]
    ids = events.ids
    at = {name: row for name in wanted for row in (ids.index_of(name),) if row is not None}
    problems = []
    for name in dict.fromkeys(each for each in wanted if each not in at):
        near = get_close_matches(name, ids.to_list(), 1, cutoff=0.0) if len(ids) <= 1_000_000 else []
        problems.append(f"no event has the id '{name}'" + (f"; the nearest is '{near[0]}'" if near else ""))
    if problems:
        raise UsageError("--match: " + ", and ".join(problems))
    return tuple(tuple(at[name] for name in part) for part in signature)


def _turns(alternative: Alternative) -> list[tuple[int, ...]]:
    """The components of each part of a signature: one, or all of a repetition."""
    return [alternative.turn(i) for i in alternative.positive if i == alternative.turn(i)[0]]


def _has_form(alternative: Alternative, signature: Ids) -> bool:
    turns = _turns(alternative)
    return len(turns) == len(signature) and all(
        len(part) % len(turn) == 0 if alternative.components[turn[0]].kleene else len(part) == 1
        for turn, part in zip(turns, signature, strict=True)
    )


def _wrong_form(readings: Sequence[Alternative], signature: Ids) -> str:
    forms = []
    for alternative in readings:
        groups = [[alternative.components[i] for i in turn] for turn in _turns(alternative)]
        forms.append(" ".join(map(_form, groups)))
    return (
        f"--match names {len(signature)} components, which is not the form of the pattern: "
        f"{' or '.join(dict.fromkeys(forms))} (ids in pattern order, those of a group joined by '+')"
    )


def _form(components: Sequence[Component]) -> str:
    """How a part of a match is written: one event, or those of a group or of repetitions."""
    names = "+".join(each.variable for each in components)
    return f"{names}+" if components[0].kleene else names


def _explained(asked: _Asked, events: Events, bins: int) -> OneMatch:
    """`events` are those of all worlds."""
    prepared, bound = asked.prepared, asked.bound
    plan, known = prepared.plan, prepared.events
    if prepared.lasting:
        return interval_match(prepared, bound, bins, events)
    alternative, written = asked.written
    demands = demands_of(plan, alternative, written)
    event = np.array(demands.events)
    system = demands.system()
    valid_lower, valid_upper = valid_of(known, system, event[None, :])
    reasons = reasons_against(prepared, bound)
    if (np.diag(system) < 0).any() or not possible(*valid_of(events, system, event[None, :]))[0]:
        reasons = (*reasons, *times_against(demands, events))
    elif not possible(valid_lower, valid_upper)[0]:
        reasons = (*reasons, *given_against(plan, events, system, event[None, :]))
    prepared, bound = asked.measured
    if not reasons and not prepared.may_take(bound):
        reasons = (Reason(Condition("absence", f"{plan.strategy.word}, which takes other events")),)
    rivals = [] if reasons else prepared.rivals(bound)
    edges = _edges_of(events, [*demands.events, *_named(rivals)], bins)
    shown = OneMatch(plan, alternative, events, (), edges, tuple(reasons))
    if not reasons:
        shown = with_confidence(shown, prepared, bound, rivals)
        shown = replace(shown, given=given_shown(prepared, events, bound))
    posterior = None
    if not shown.reasons and known.independent and not prepared.shape.together:
        posterior = posterior_shares(prepared, bound, demands.events, rivals, edges)
    members = tuple(
        BoundMember(alternative.components[component].variable, event_shown(events, each, edges),
               int(valid_lower[0, at]), int(valid_upper[0, at]), None if posterior is None else posterior[at])
        for at, (component, each) in enumerate(zip(demands.components, demands.events, strict=True))
    )  # fmt: skip
    offsets = () if shown.reasons else shared_offsets(plan, known, system, demands.events)
    return replace(shown, members=members, offsets=offsets)


def _bound(alternative: Alternative, events: Events, rows: Sequence[tuple[int, ...]]) -> dict[int, Bindings]:
    """One match, as batches have it; the members of a set in the order of their ids."""
    shown: list[Bindings] = []
    for turn, part in zip(_turns(alternative), rows, strict=True):
        component, members = alternative.components[turn[0]], np.array(part, dtype=np.int64)
        if component.kleene and not component.ordered:
            members = members[np.argsort(events.id_rank[members])]
        shown.append(Group(np.array([0, len(members)]), members) if component.kleene else members)
    return bound_by_component(alternative, shown)


def _named(rivals: Sequence[Rivals]) -> list[int]:
    return sorted({int(event) for each in rivals for event in each.event})[:MOST_RIVALS]


def _edges_of(events: Events, shown: Sequence[int], bins: int) -> Reals:
    rows = np.array(shown)
    return bin_edges(int(events.masses.lower[rows].min()), int(events.masses.upper[rows].max()), bins)
