"""Matches with AND: a sum over the orders of their events, each measured as a chain.

Events at one tick are one event of the chain, whose mass is the product of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.met_masses import met_masses
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.confidence.measured import Measured, Total
from cepctl.engines.confidence.method import nobody
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.engines.pattern.difference_constraints import closed_system, possible, valid_bounds
from cepctl.engines.pattern.total_orders import Step, TotalOrder, total_orders
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.points import Found, nested

Door: TypeAlias = Callable[[Batch], Measured]


def summed_over_orders(door: Door, batch: Batch, rows: Indexes) -> Found:
    """Matches exactly, and where an error is allowed each that costs too much from worlds of its own."""
    whole = batch.taken(rows)
    if batch.measure.sampling is None:
        return rows, _summed(door, whole)
    from cepctl.engines.confidence.clocks.estimates import measured_or_estimated

    exactly = replace(whole, measure=replace(whole.measure, sampling=None, heard=nobody))
    return rows, measured_or_estimated(
        lambda some: _summed(door, exactly.taken(some)), lambda row: nested(whole, row)[1], len(rows)
    )


def _summed(door: Door, whole: Batch) -> Measured:
    total = Total(len(whole))
    for order in total_orders(whole.measure.shape):
        rows = _possible(whole, order)
        if len(rows):
            share, chains = _in_order(whole.taken(rows), order)
            found = door(chains)
            # Intervals that overlap need share no tick.
            met = np.flatnonzero(share > 0.0)
            found = found.taken(met)
            total.add(rows[met], share[met] * found.confidence, found.start, found.end)
    return total.measured()


def _possible(whole: Batch, order: TotalOrder) -> Indexes:
    """The matches that may have their events in an order, as far as intervals say."""
    masses, lower, upper = whole.measure.masses, [], []
    for step in order.steps:
        events = [_single(whole, component) for component in step]
        lower.append(np.max([masses.lower[each] for each in events], axis=0))
        upper.append(np.min([masses.upper[each] for each in events], axis=0))
    ends = np.stack(lower, axis=1), np.stack(upper, axis=1)
    return np.flatnonzero(possible(*valid_bounds(*ends, _system(order))))


def _in_order(whole: Batch, order: TotalOrder) -> tuple[Reals, Batch]:
    """How probable it is that what shares a tick does so, and the chains beside that."""
    masses, share = whole.measure.masses, np.ones(len(whole))
    bound: dict[int, Indexes] = {}
    for number, step in enumerate(order.steps):
        masses, bound[number], met = _met(masses, whole, step)
        share = share * met
    chain = order.chain
    measure = replace(
        whole.measure, shape=chain, system=_system(order), masses=masses, sampling=None, sifted=False
    )
    rivals = []
    for each in whole.rivals:
        rule = order.rule(each.rule)
        if rule is not None:
            rivals.append(Rivals(rule, each.row, each.event))
    known = {*chain.rules}
    more = tuple(dict.fromkeys(each.rule for each in rivals if each.rule not in known))
    chain = replace(chain, rules=(*chain.rules, *more))
    return share, Batch(replace(measure, shape=chain), dict(bound), rivals)


def _met(masses: Masses, whole: Batch, step: Step) -> tuple[Masses, Indexes, Reals]:
    """The event of each chain that stands for a step, and how probable it is that the step has one tick.

    `masses` are followed by those of events that stand for several.
    """
    first, *others = (_single(whole, component) for component in step)
    share = np.ones(len(whole))
    for other in others:
        distinct, place = distinct_rows(np.stack([first, other], axis=1))
        met, shares = met_masses(masses, first[distinct], other[distinct])
        first = len(masses.lower) + place
        masses, share = masses.followed_by(met), share * shares[place]
    return masses, first, share


def _single(whole: Batch, component: int) -> Indexes:
    events = whole.bound[component]
    assert not isinstance(events, Group)
    return events


def _system(order: TotalOrder) -> Indexes:
    return closed_system(range(len(order.steps)), order.shape.window)
