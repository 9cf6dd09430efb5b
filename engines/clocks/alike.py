"""Matches in parts whose groups have the same sizes: such are measured together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.columns.bindings import Bindings, Group, block_group, take
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.rivals import Rivals

BoundEvents: TypeAlias = Mapping[int, Bindings]
"""The events of matches, by component."""


def groups_of(shape: Shape, bound: BoundEvents) -> list[Group]:
    """The events of each block."""
    return [block_group([bound[i] for i in block.components]) for block in shape.blocks]


def alike_matches(
    shape: Shape, bound: BoundEvents, rivals: Sequence[Rivals], at_once: int
) -> Iterator[tuple[Indexes, dict[int, Bindings], list[Rivals]]]:
    """Row numbers, events and rivals of at most `at_once` matches, whose groups have the same sizes."""
    sizes = np.stack([group.sizes for group in groups_of(shape, bound)], axis=1)
    alike, kind = np.unique(sizes, axis=0, return_inverse=True)
    for number in range(len(alike)):
        of_kind = np.flatnonzero(kind.reshape(-1) == number)
        for begin in range(0, len(of_kind), at_once):
            rows = of_kind[begin : begin + at_once]
            part = {i: take(each, rows) for i, each in bound.items()}
            yield rows, part, [each.taken(rows) for each in rivals]
