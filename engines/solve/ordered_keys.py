"""Matches under laws of order: what decides each of them, and how probable it is by the law of its keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from cepctl.engines.confidence.measured import Measured
from cepctl.engines.pattern.blocks import Region, Shape, gap_of
from cepctl.engines.pattern.shapes import edge_of
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.points import Found
from cepctl.numeric.arrays import Indexes

if TYPE_CHECKING:
    from cepctl.engines.confidence.orders.asked import LawRows

Door: TypeAlias = Callable[[Batch], Measured]


def under_laws(door: Door, batch: Batch, rows: Indexes) -> Found:
    """Any matches of single events in order: their ranges as without a law, their confidences by it."""
    measure = batch.measure
    orders = measure.depends.orders
    assert orders is not None
    lawless = replace(measure, depends=measure.depends.but_for_orders())
    plain = replace(batch, measure=lawless).taken(rows)
    found = door(plain)
    # What holds in every world does under every law.
    possible = np.flatnonzero(found.possible & (found.confidence < 1.0))
    if not len(possible) or measure.ranges_only:
        return rows, found
    lawful = orders.probabilities(rows_of(plain.taken(possible)), measure.window)
    confidence = found.confidence.copy()
    confidence[possible] = np.where(np.isnan(lawful), confidence[possible], lawful)
    return rows, replace(found, confidence=confidence)


def rows_of(batch: Batch) -> LawRows:
    """What the matches of a batch ask; only rivals that can decide one count."""
    from cepctl.engines.confidence.orders.asked import LawRows

    shape, deciding = batch.measure.shape, batch.deciding
    if not deciding:
        return LawRows.plain(batch.events)
    gaps = [_bits({_gap(region, shape) for region in each.rule.regions}) for each in deciding]
    row = np.concatenate([each.row for each in deciding])
    rival = np.concatenate([each.event for each in deciding])
    words = np.repeat(gaps, [len(each.row) for each in deciding])
    order = np.lexsort((rival, row))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(row[order]) != 0) | (np.diff(rival[order]) != 0)
    begins = np.flatnonzero(new)
    joined = np.bitwise_or.reduceat(words[order], begins) if len(begins) else words
    return LawRows(batch.events, row[order][begins], rival[order][begins], joined)


def _bits(gaps: set[int]) -> int:
    return sum(1 << gap for gap in gaps)


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
