"""Matches under laws of order: what decides each of them, and how probable it is by the law of its keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.pattern.blocks import Region, Shape, edge_of, gap_of
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.points import Found

if TYPE_CHECKING:
    from cepctl.engines.confidence.orders.rows import Row

Door: TypeAlias = Callable[[Batch], Measured]


def under_laws(door: Door, batch: Batch, rows: Indexes) -> Found:
    """Any matches of single events in order: their ranges as without a law, their confidences by it."""
    measure = batch.measure
    assert measure.orders is not None
    plain = replace(batch, measure=replace(measure, orders=None)).taken(rows)
    found = door(plain)
    possible = np.flatnonzero(found.possible)
    if not len(possible) or measure.ranges_only:
        return rows, found
    asked = [(each,) for each in rows_of(plain.taken(possible))]
    lawful, _ = measure.orders.probabilities(asked, measure.window)
    confidence = found.confidence.copy()
    confidence[possible] = np.where(np.isnan(lawful), confidence[possible], lawful)
    return rows, replace(found, confidence=confidence)


def rows_of(batch: Batch) -> list[Row]:
    """What each match of a batch asks; only rivals that can decide it count."""
    from cepctl.engines.confidence.orders.rows import Row

    rivals: list[dict[int, int]] = [{} for _ in range(len(batch))]
    for each in batch.deciding:
        gaps = 0
        for region in each.rule.regions:
            gaps |= 1 << _gap(region, batch.measure.shape)
        for row, event in zip(each.row.tolist(), each.event.tolist(), strict=True):
            rivals[row][event] = rivals[row].get(event, 0) | gaps
    return [
        Row(tuple(events), tuple(sorted(absent.items())))
        for events, absent in zip(batch.events.tolist(), rivals, strict=True)
    ]


def _gap(region: Region, shape: Shape) -> int:
    """The number of a gap: 0 before the first event, that of the events after the last."""
    between = gap_of(region)
    if between is not None:
        return between + 1
    edge = edge_of(region, shape)
    if edge is None and len(region) == 1:
        edge = "after" if region[0].is_lower else "before"
    assert edge is not None
    return 0 if edge == "before" else len(shape.blocks)
