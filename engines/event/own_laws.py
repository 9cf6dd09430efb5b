"""`prob(...)` in a query: by the laws that the events have in all worlds, whatever is given of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.events import Events
from cepctl.language.ast import Probability


def with_own_laws(stamped: Events) -> Events:
    """The same events, of which `prob(...)` can be asked; what is left of them later changes no answer.

    `stamped` are the events as they were logged, before anything given has narrowed or tied them.
    """
    return replace(stamped, probability=partial(_probability, stamped))


def _probability(stamped: Events, _: Events, asked: Probability, bound: Sequence[Indexes]) -> Reals:
    from cepctl.engines.intervals.probabilities import probability_of

    return probability_of(stamped, asked, bound)
