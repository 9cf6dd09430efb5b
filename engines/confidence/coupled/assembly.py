"""Builds one summation problem per assignment of variables to a batch of matches, and adds up their results.

The constraints become edges between variables (`edges`), members of sets become factors that must lie
inside a region, rivals factors that must lie outside (`regions`).  The problems of one match are mutually
exclusive, so their probabilities add up (`problem`, `solve`).

Runs inside Spark workers: imports NumPy only.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.certainty import certainly_in_order
from cepctl.engines.confidence.coupled.edges import Edge, edges_of, sided
from cepctl.engines.confidence.coupled.problem import Factors, Problems, Structure, Variables, breakpoints
from cepctl.engines.confidence.coupled.regions import (
    Entries,
    Frame,
    RegionKinds,
    member_entries,
    rival_entries,
    rival_pairs,
)
from cepctl.engines.confidence.coupled.sampling import Sampling
from cepctl.engines.confidence.coupled.solve import coupled_confidence, first_ticks, mirrored
from cepctl.engines.confidence.coupled.variables import VariableAssignment, variable_assignments
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.difference_constraints import closure, possible, valid_bounds
from cepctl.engines.pattern.rivals import Rivals

_LAST = np.iinfo(np.int64).max


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
    certain = certainly_in_order(shape, masses, groups)
    for each in rivals:
        if each.rule.members_too:
            certain[each.row] = False
    for problems in coupled_problems(shape, masses, groups, rivals):
        part, first = _solved(masses, problems, error > 0, give_up=sampling is not None)
        last = -first_ticks(*mirrored(masses, problems))
        unknown = np.isnan(part) & (first != _LAST)
        if sampling is not None and unknown.any():
            given_up.append(problems.taken(np.flatnonzero(unknown)))
            error[problems.match[unknown]] = sampling.error
        happens = first != _LAST
        certain[problems.match[_with_rivals(problems)]] = False
        match = problems.match[happens]
        np.add.at(confidence, match, np.where(unknown, 0.0, part)[happens])
        np.minimum.at(start, match, first[happens])
        np.maximum.at(end, match, last[happens])
    if sampling is not None and given_up:
        sampled, estimate = sampling.probabilities(groups, given_up)
        confidence[sampled] = np.minimum(confidence[sampled] + estimate, 1.0)
    confidence[certain], error[certain] = 1.0, 0.0
    return Measured(confidence, error, start, end)


def _with_rivals(problems: Problems) -> Flags:
    """Problems with an event that must be outside of some region."""
    factors = problems.factors
    outside = np.concatenate([[0], np.cumsum(~factors.inside)])
    return np.asarray(np.diff(outside[factors.region_offsets[factors.offsets]]) > 0)


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
    for assignment in variable_assignments(shape, groups):
        for part, ties in _with_ties(assignment, rivals):
            yield from _problems(shape, masses, groups, rivals, part, ties)


def _with_ties(
    assignment: VariableAssignment, rivals: list[Rivals]
) -> Iterator[tuple[VariableAssignment, list[Edge]]]:
    """An assignment split by which members must share the tick of the first one of their group.

    That is a member which fits the component after the group as well: any later it would have been
    taken as that component (skip_till_next_match).
    """
    tied = np.zeros(assignment.event.shape, dtype=bool)
    first = np.zeros(assignment.event.shape[1], dtype=np.int64)
    for each in rivals:
        group = each.rule.regions[0][0].point
        if not each.rule.members_too or group is None:
            continue
        block = assignment.blocks[group.block]
        problem, event = rival_pairs(assignment, each)
        for variable in block.variables if block.choice == "unordered" else ():
            first[variable] = block.first
            tied[problem[assignment.event[problem, variable] == event], variable] = variable != block.first
    for pattern in np.unique(tied, axis=0):
        rows = np.flatnonzero((tied == pattern).all(axis=1))
        yield assignment.taken(rows), [(int(v), int(first[v]), 0) for v in np.flatnonzero(pattern)]


def _problems(
    shape: Shape,
    masses: Masses,
    groups: list[Group],
    rivals: list[Rivals],
    assignment: VariableAssignment,
    ties: list[Edge],
) -> Iterator[Problems]:
    """The problems of an assignment; `<>` between variables makes several of each."""
    count = assignment.event.shape[1]
    edges, low, high = edges_of(shape, assignment, ties)
    for sides in sided(shape, assignment, edges):
        edges, low, high = edges_of(shape, assignment, [*ties, *sides])
        system = closure(count, edges)
        if (np.diag(system) < 0).any():
            continue
        lower = np.maximum(masses.lower[assignment.event], low)
        upper = np.minimum(masses.upper[assignment.event], high)
        lower, upper = valid_bounds(lower, upper, system)
        keep = possible(lower, upper)
        kinds, frame = RegionKinds(), Frame(masses, system, lower, upper)
        entries = [
            *member_entries(shape, groups, assignment, frame, kinds),
            *rival_entries(shape, assignment, rivals, frame, kinds),
        ]
        yield _assembled(assignment, edges, system, lower, upper, keep, kinds, entries)


def _assembled(
    assignment: VariableAssignment,
    edges: list[Edge],
    system: Ticks,
    lower: Ticks,
    upper: Ticks,
    keep: Flags,
    kinds: RegionKinds,
    parts: list[Entries],
) -> Problems:
    """Sort the entries into factors (problem, event), drop impossible problems, expand the bounds."""
    problem = np.concatenate([np.zeros(0, np.int64), *(part.problem for part in parts)])
    event = np.concatenate([np.zeros(0, np.int64), *(part.event for part in parts)])
    inside = np.concatenate([np.zeros(0, bool), *(part.inside for part in parts)])
    kind = np.concatenate([np.zeros(0, np.int64), *(part.kind for part in parts)])
    keep = keep & _variables_spared(assignment, problem, event, inside)
    order = np.lexsort((kind, event, problem))
    is_variable = (assignment.event[problem] == event[:, None]).any(axis=1)
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
    structure = Structure(
        system, tuple(edges), tuple(bounds), breakpoints(len(system), edges, system, bounds)
    )
    return Problems(
        structure,
        assignment.row[keep],
        Variables(assignment.event[keep], lower[keep], upper[keep]),
        Factors(
            offsets=np.searchsorted(renumbered[problem[begins]], np.arange(int(keep.sum()) + 1)),
            event=event[begins],
            region_offsets=np.append(begins, len(problem)),
            inside=inside,
            bound_offsets=offsets,
            is_lower=np.array([bound.is_lower for bound in flat], dtype=bool)[at],
            variable=np.array([bound.variable for bound in flat], dtype=np.int64)[at],
            constant=np.array([bound.constant for bound in flat], dtype=np.int64)[at],
        ),
    )


def _variables_spared(
    assignment: VariableAssignment, problem: Indexes, event: Indexes, inside: Flags
) -> Flags:
    """False for problems in which a rival is itself the last member of a group, and not its first.

    That is a later member of a group under skip_till_next_match which fits the component after the
    group too: it would have been taken as that component.
    """
    spared = np.ones(len(assignment.row), dtype=bool)
    for block in assignment.blocks:
        if block.choice == "distinct ends":
            hit = ~inside & (assignment.event[problem, block.last] == event)
            spared[problem[hit]] = False
    return spared
