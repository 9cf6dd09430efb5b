"""Builds the summation problems of a batch of matches: the way of `matches`, from end to end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cepctl.arrays import Flags
from cepctl.engines.confidence.coupled.edges import Constrained, constrained
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.coupled.problem import (
    Factors,
    Problems,
    Structure,
    Variables,
)
from cepctl.engines.confidence.coupled.regions import Regions, regions_of
from cepctl.engines.confidence.coupled.variables import VariableAssignment, variable_assignments
from cepctl.engines.pattern.blocks import Shape


def coupled_problems(matches: CoupledMatches) -> Iterator[Problems]:
    """The problems of a batch of matches; those of one match exclude each other.

    Raises
    ------
    QueryTooLargeError
        If `<>` between times makes too many of a match.
    """
    for assignment in variable_assignments(matches):
        for held in constrained(matches, assignment):
            yield _assembled(held, regions_of(matches, held), _shown_ends(matches.shape, assignment))


def _shown_ends(shape: Shape, assignment: VariableAssignment) -> tuple[int, int]:
    """The first and the last variable of what matches show."""
    blocks = assignment.blocks
    return blocks[shape.hidden_before].first, blocks[len(blocks) - 1 - shape.hidden_after].last


def _assembled(held: Constrained, regions: Regions, ends: tuple[int, int]) -> Problems:
    """Drop impossible problems, and sort what their regions say by problem and event into factors."""
    assignment, problem, event = held.assignment, regions.problem, regions.event
    keep = held.possible & _variables_spared(assignment, regions)
    is_variable = (assignment.event[problem] == event[:, None]).any(axis=1)
    order = np.lexsort((regions.kind, event, problem))
    order = order[(keep[problem] & ~is_variable)[order]]
    problem, event = problem[order], event[order]
    fresh = np.ones(len(problem), dtype=bool)
    fresh[1:] = (problem[1:] != problem[:-1]) | (event[1:] != event[:-1])
    begins = np.flatnonzero(fresh)
    renumbered = np.cumsum(keep) - 1
    offsets = np.searchsorted(renumbered[problem[begins]], np.arange(int(keep.sum()) + 1))
    owning = offsets, event[begins], np.append(begins, len(problem))
    factors = Factors.of_kinds(*owning, regions.inside[order], regions.kinds, regions.kind[order])
    structure = Structure(held.system, held.edges, ends)
    variables = Variables(assignment.event[keep], held.lower[keep], held.upper[keep])
    return Problems(structure, assignment.row[keep], variables, factors)


def _variables_spared(assignment: VariableAssignment, regions: Regions) -> Flags:
    """False for problems in which a rival is itself the last member of a group, and not its first.

    That is a later member of a group under skip_till_next_match which fits the component after the
    group too: it would have been taken as that component.
    """
    spared = np.ones(len(assignment.row), dtype=bool)
    for block in assignment.blocks:
        if block.choice == "distinct ends":
            hit = ~regions.inside & (assignment.event[regions.problem, block.last] == regions.event)
            spared[regions.problem[hit]] = False
    return spared
