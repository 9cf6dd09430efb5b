"""The property of GROUP BY fails on an engine with one fault planted, where rows become clauses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from cepctl.engines.confidence.coupled.problem import Clauses, Problems, Tied, clauses_of, owned
from cepctl.engines.event import group_occurrences
from tests.engines.agreement import check
from tests.engines.confidence.occurrence.groups_agree import grouped, groups_agree
from tests.strategies import LEVELS

EXAMPLES = 400


def kept_clauses(clauses: Clauses, kept: Sequence[int]) -> Clauses:
    """Some of the clauses."""
    rows = np.array(kept, dtype=np.int64)
    differences, offsets = owned(clauses.difference_offsets, rows)
    return Clauses(
        clauses.problem_offsets,
        np.searchsorted(rows, clauses.clause_offsets).astype(np.int64),
        clauses.absent[rows],
        offsets,
        clauses.left[differences],
        clauses.right[differences],
        clauses.bound[differences],
    )


def _a_comparison_is_forgotten(
    problems: Sequence[Problems], count: int, *, limited: bool, tied: Sequence[Tied] = ()
) -> Clauses:
    found = clauses_of(problems, count, limited=limited, tied=tied)
    firsts = set(found.clause_offsets[:-1].tolist())
    return kept_clauses(found, [k for k in range(len(found.absent)) if k not in firsts])


def _a_row_is_absorbed_that_is_not_implied(
    problems: Sequence[Problems], count: int, *, limited: bool, tied: Sequence[Tied] = ()
) -> Clauses:
    """The last problem of each group becomes the one before it."""
    found = clauses_of(problems, count, limited=limited, tied=tied)
    order = np.arange(int(found.problem_offsets[-1]))
    for begin, end in zip(found.problem_offsets[:-1], found.problem_offsets[1:], strict=True):
        if end - begin > 1:
            order[end - 1] = end - 2
    clauses, clause_offsets = owned(found.clause_offsets, order)
    differences, difference_offsets = owned(found.difference_offsets, clauses)
    return Clauses(
        found.problem_offsets, clause_offsets, found.absent[clauses], difference_offsets,
        found.left[differences], found.right[differences], found.bound[differences],
    )  # fmt: skip


def _a_rival_is_present(
    problems: Sequence[Problems], count: int, *, limited: bool, tied: Sequence[Tied] = ()
) -> Clauses:
    found = clauses_of(problems, count, limited=limited, tied=tied)
    return found._replace(absent=np.zeros(len(found.absent), dtype=bool))


FAULTS: dict[str, tuple[Callable[..., Any], str]] = {
    "a comparison is forgotten": (_a_comparison_is_forgotten, "chains"),
    "a row is absorbed that is not implied": (_a_row_is_absorbed_that_is_not_implied, "chains"),
    "a rival has to be where it must not": (_a_rival_is_present, "next match"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spoiled, level = FAULTS[fault]
    monkeypatch.setattr(group_occurrences, "clauses_of", spoiled)
    with pytest.raises(AssertionError):
        check(grouped(LEVELS[level]), groups_agree, EXAMPLES, shrink=False)
