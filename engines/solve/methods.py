"""All methods by which confidences and time ranges are measured, and the door that asks one after the other.

A method takes batches by their form.  Of a batch it measures what it can; what it leaves, as when its sums
would take too many products, the next one is asked for.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.confidence import work
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.work import Guarantee, Method
from cepctl.engines.solve import combinators, points
from cepctl.engines.solve.batch import Batch, Form, simplest, without_inner_members
from cepctl.engines.solve.points import Found
from cepctl.numeric.arrays import Indexes

MatchMethod: TypeAlias = Method[Form, [Batch, Indexes], Found]
"""`takes` batches by their form; `measure` tells of which rows of a batch it found what."""


def measure(batch: Batch) -> Measured:
    """Time range and confidence of matches.

    Raises
    ------
    QueryTooLargeError
        If a match needs more work than is allowed, and estimates are not.
    """
    if not batch.lasting and any(isinstance(each, Group) for each in batch.bound.values()):
        batch = without_inner_members(batch)
    found = simplest(batch, _by_methods)
    if not (batch.measure.shape.hides_ends and batch.form.independent):
        return found
    from cepctl.engines.confidence.points.confidences import shown_range

    start, end = shown_range(batch.coupled)
    return replace(found, start=np.where(found.possible, start, 1), end=np.where(found.possible, end, 0))


def _by_methods(batch: Batch) -> Measured:
    left, found = np.arange(len(batch)), None
    for method in METHODS:
        if not method.takes(batch.form):
            continue
        rows, part = method.measure(batch, left)
        if len(rows):
            batch.measure.heard(method.name)
        if len(rows) == len(batch):
            return part
        found = impossible(len(batch)) if found is None else found
        found.put(rows, part)
        left = np.setdiff1d(left, rows)
        if not len(left):
            return found
    assert found is not None
    return found


EXACT, AGREED, PARTS, ESTIMATED = Guarantee

# fmt: off
METHODS: tuple[MatchMethod, ...] = (
    # Interval events: what is summed is in the room `intervals`, as a list of `sums`.
    Method(work.ENDS, lambda form: form.lasting,
           PARTS, combinators.endpoints, "interval events, or conditions on ends"),
    Method(work.ORDERS, lambda form: form.under_law,
           PARTS, partial(combinators.under_laws, measure), "a law weighs the orders of the events of keys"),
    # Points that depend on each other, and come back through the door as others that do not.
    Method("as if nothing were given", lambda form: form.tied,
           PARTS, partial(combinators.untied, measure), "GIVEN ties none of its events to others"),
    Method("as if there were no clocks", lambda form: form.clocked and not form.tied,
           PARTS, partial(combinators.unstamped, measure), "none of its events is on a clock"),
    Method("exact sums, or sampled worlds where they cost too much", lambda form: form.sampled,
           ESTIMATED, partial(combinators.sampled, measure), "an error is allowed"),
    Method("sums beside what is given, at few offsets of clocks", lambda form: form.tied and form.clocked,
           EXACT, points.nested, "GIVEN ties events of its clocks"),
    Method(work.BESIDE_GIVEN, lambda form: form.tied,
           EXACT, combinators.given, "GIVEN ties its events to others"),
    Method("chain in closed form, at few offsets of clocks", lambda form: form.clocked and form.plain,
           EXACT, combinators.clock_chains, "events share clocks, and order and window alone decide"),
    Method(work.AT_OFFSETS, lambda form: form.clocked,
           EXACT, points.nested, "events share clocks"),
    Method("within a span of ticks", lambda form: form.cut,
           PARTS, partial(combinators.within, measure), "all that it binds has to lie within two ticks"),
    # Points that are independent of each other.
    Method("nothing to sum", lambda form: form.independent and form.rivals,
           EXACT, points.broken, "a rival breaks it in every world"),
    Method("chain in closed form", lambda form: form.in_order,
           EXACT, points.chain, "order and window alone decide, no rival can break it"),
    Method(work.GAPS, lambda form: form.in_order and form.rivals,
           AGREED, points.gaps, "each rival can break one gap, or one edge of the window"),
    Method(work.BOTH_ENDS, lambda form: form.three_in_order and form.rivals,
           EXACT, points.shared_gaps, "rivals must stay out of both gaps"),
    Method("certain without a sum", lambda form: form.independent and not form.in_order,
           EXACT, points.settled, "order, window and conditions on times hold in every world"),
    Method(work.SET, lambda form: form.set_between,
           EXACT, points.sets, "a set of members lies between two events"),
    Method(work.CARRIED, lambda form: form.in_order and form.rivals,
           EXACT, points.several_gaps, "rivals must stay out of several gaps one after the other"),
    Method("sum over the orders of AND", lambda form: form.in_each_order,
           PARTS, partial(combinators.in_each_order, measure), "AND leaves single events in any order"),
    Method(work.NESTED, lambda form: form.independent and not form.plain,
           EXACT, points.nested, "groups, events in any order, conditions on times, rivals of several gaps"),
)
# fmt: on
"""In the order in which they are asked."""
