"""Of all rivals of matches those that can decide them, told by where events can be.

Only these are looked at further: their clocks are summed over, and their cuts end pieces.  So a match is
measured alike wherever it is found, as without clocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.deciding_rivals import deciding_in_chains
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.difference_constraints import closed_system, valid_bounds
from cepctl.engines.pattern.rivals import Rivals


def deciding_rivals(
    shape: Shape, envelopes: Masses, groups: list[Group], rivals: Sequence[Rivals]
) -> list[Rivals]:
    """The rivals that can decide; `groups` gives the members of every block of the matches."""
    if not any(len(each.row) for each in rivals):
        return list(rivals)
    if shape.only_single:
        matches = np.stack([group.members for group in groups], axis=1)
        system = closed_system(range(len(groups)), shape.window)
        valid = valid_bounds(envelopes.lower[matches], envelopes.upper[matches], system)
        return deciding_in_chains(rivals, envelopes, system, *valid)
    events = len(envelopes.lower)
    found = [group.owner * events + group.members for group in groups]
    for problems in coupled_problems(CoupledMatches(shape, envelopes, groups, rivals)):
        problem = np.repeat(np.arange(len(problems.match)), np.diff(problems.factors.offsets))
        found.append(problems.match[problem] * events + problems.factors.event)
    known = np.unique(np.concatenate(found))
    return [_kept(each, np.isin(each.row * events + each.event, known)) for each in rivals]


def _kept(rivals: Rivals, kept: Flags) -> Rivals:
    row: Indexes = rivals.row[kept]
    return replace(rivals, row=row, event=rivals.event[kept])
