"""Kleene groups of a batch of bindings."""

from __future__ import annotations

from collections.abc import Iterator

from cepctl.engines.bindings import Bound
from cepctl.engines.enumeration import Search
from cepctl.engines.events import Events
from cepctl.engines.shape import Shape
from cepctl.engines.types import Indexes
from cepctl.plan.plan import Plan


def with_groups(
    search: Search, shape: Shape, events: Events, rows: Indexes, plan: Plan, max_matches: int
) -> Iterator[dict[int, Bound]]:
    """Extend."""
    if len(rows):
        yield {component: rows[:, column] for column, component in enumerate(search.singles)}
