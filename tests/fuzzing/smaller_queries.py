"""Queries, made smaller: without a clause, a condition or a component, with plainer components."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.fuzzing.queries import Case, Group, Pattern, parts_of
from tests.random_patterns import ANY, Part


def with_fewer_clauses(case: Case) -> Iterator[Case]:
    """Without a condition, a key, a column, something given, GROUP BY or the window."""
    query = case.query
    for name in ("given", "returns", "conditions", "keys", "group_by"):
        texts = getattr(query, name) or ()
        for place in range(len(texts)):
            shorter: dict[str, Any] = {name: texts[:place] + texts[place + 1 :]}
            yield replace(case, query=replace(query, **shorter))
    if query.group_by is not None:
        yield replace(case, query=replace(query, group_by=None))
    if query.within is not None:
        yield replace(case, query=replace(query, within=None))
    if query.strategy != ANY:
        yield replace(case, query=replace(query, strategy=ANY))
    if case.check:
        yield replace(case, check="")
    yield from _with_plainer_laws(case)


def _with_plainer_laws(case: Case) -> Iterator[Case]:
    """Without laws, or without one of their factors."""
    if case.laws:
        yield replace(case, laws=())
    for place, law in enumerate(case.laws):
        for name, factors in (("following", law.following), ("before", law.before)):
            for pair in factors:
                fewer: dict[str, Any] = {
                    name: {key: factor for key, factor in factors.items() if key != pair}
                }
                laws = [*case.laws[:place], replace(law, **fewer), *case.laws[place + 1 :]]
                yield replace(case, laws=tuple(laws))


def with_smaller_patterns(case: Case) -> Iterator[Case]:
    """With a component less, a group opened, an alternative alone, or a plainer component."""
    for pattern in _smaller(case.query.pattern):
        if any(not part.negated for part in parts_of(pattern)):
            yield replace(case, query=case.query.with_pattern(pattern))


def with_narrower_windows(case: Case) -> Iterator[Case]:
    """With a shorter window."""
    within = case.query.within or 1
    for shorter in dict.fromkeys((1, within // 2, within - 1)):
        if 0 < shorter < within:
            yield replace(case, query=replace(case.query, within=shorter))


def renamed(case: Case) -> Case:
    """With short names of events, in the order of their first ticks."""
    ordered = sorted(case.events, key=lambda event: (event.lower, event.upper, event.event_id))
    events = tuple(replace(event, event_id=f"e{number}") for number, event in enumerate(ordered))
    return replace(case, events=events, clocks=case.used_clocks)


def _smaller(pattern: Pattern) -> Iterator[Pattern]:
    if isinstance(pattern, Part):
        yield from _plainer(pattern)
        return
    members = pattern.members
    if pattern.word == "OR" or len(members) == 1:
        yield from members
    for place in range(len(members)):
        if len(members) > 1:
            yield replace(pattern, members=members[:place] + members[place + 1 :])
    for place, member in enumerate(members):
        if isinstance(member, Group) and member.word != "OR" and pattern.word == "SEQ":
            yield replace(pattern, members=members[:place] + member.members + members[place + 1 :])
        for smaller in _smaller(member):
            yield replace(pattern, members=(*members[:place], smaller, *members[place + 1 :]))


def _plainer(part: Part) -> Iterator[Part]:
    if part.how_many:
        yield replace(part, how_many="")
    if part.kleene:
        yield replace(part, kleene=False, how_many="")
    if part.types == "*" or "|" in part.types:
        for kind in "ABC" if part.types == "*" else part.types.split("|"):
            yield replace(part, types=kind)
