"""The list of methods with one of them changed, as by a fault, or one that measures nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cepctl.engines.confidence.measured import impossible
from cepctl.engines.solve import methods
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.points import Found
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes


def change(
    patch: pytest.MonkeyPatch, name: str, changed: Callable[[Batch, Indexes], Found]
) -> Callable[[Batch, Indexes], Found]:
    """Let a method measure like that; returns how it measured before."""
    (before,) = (each.measure for each in methods.METHODS if each.name == name)
    others = (replace(each, measure=changed) if each.name == name else each for each in methods.METHODS)
    patch.setattr(methods, "METHODS", tuple(others))
    return before


def measure_nothing(patch: pytest.MonkeyPatch, name: str) -> None:
    """Let a method leave all matches to those after it."""
    change(patch, name, lambda batch, rows: (rows[:0], impossible(0)))


def refuse_clocks(patch: pytest.MonkeyPatch) -> None:
    """Let whatever shares clocks be too much to be exact."""

    def refused(batch: Batch, rows: Indexes) -> Found:
        raise QueryTooLargeError("too much")

    for name in ("chain in closed form, at few offsets of clocks", "sum over few offsets of clocks"):
        change(patch, name, refused)
