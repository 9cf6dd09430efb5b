"""How many groups there will be, known before the first is measured, so that too many are refused at once.

Where nothing but order and window limits sets they are counted without making any (`counts`).  Where a
threshold does, they are tried (`trials`).
"""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.enumeration.search import Search
from cepctl.engines.kleene.budget import GroupBudget
from cepctl.engines.kleene.choices import GroupChoices
from cepctl.engines.kleene.counts import count_sets, latest_beginnings

_TOO_MANY_TO_COUNT_EXACTLY = 1000
"""Events whose sets need not be told from those of more."""
_SLACK = 1e-8
"""Share of a threshold by which bounds that are added up in another order may differ."""


def subsets_of(optional: Group) -> float:
    """How many sets the events of all rows form, whatever limits them."""
    return float(np.exp2(np.minimum(optional.sizes, _TOO_MANY_TO_COUNT_EXACTLY)).sum())


def foresee_sets(
    search: Search, masses: Masses, rows: Indexes, optional: Group, component: int, budget: GroupBudget
) -> None:
    """Where nothing else limits them, count the sets between their neighbours before any is made.

    Raises
    ------
    QueryTooLargeError
        If there are more than the budget allows.
    """
    components = search.alternative.components
    alone = sum(components[i].kleene for i in search.singles) == 1
    if not alone or components[component].ordered or subsets_of(optional) <= budget.left:
        return
    column = search.singles.index(component)
    bound = rows[optional.owner]
    bound[:, column] = optional.members
    lower, upper = masses.lower[bound], masses.upper[bound]
    reach = latest_beginnings(lower, upper, search.system, column)
    sets = count_sets(optional.owner, len(rows), lower[:, column], upper[:, column], reach)
    budget.foresee(sum(sets), int(optional.sizes.max(initial=0)), components[component])


def can_be_tried(search: Search, choices: GroupChoices) -> bool:
    """Whether neighbours, window and threshold are all that limits these sets."""
    few = choices.optional.sizes.max(initial=0) <= _TOO_MANY_TO_COUNT_EXACTLY
    free = not choices.component.ordered and not choices.whole and not search.partition_by
    return bool(choices.bounds is not None and free and few)


def try_sets(
    search: Search, choices: GroupChoices, states: Indexes, weights: Reals, window: int | None,
    budget: GroupBudget,
) -> None:  # fmt: skip
    """Try the sets that grow from some of the choices, none of which is kept.

    `weights`: what they carry along, as `CellBounds.started` says.

    Raises
    ------
    QueryTooLargeError
        If more are tried than the budget allows.
    """
    assert choices.bounds is not None
    assert search.push_down is not None
    least = search.push_down.threshold.least * (1.0 - _SLACK)
    tries = choices.bounds.tries(
        choices.row[states], weights, choices.optional.take(states), window, least, budget.left
    )
    budget.spend(tries, int(choices.optional.sizes.max(initial=0)), choices.component)
