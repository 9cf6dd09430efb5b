"""The local runner: the partition function in this process, without Java."""

from __future__ import annotations

import pyarrow as pa

from cepctl.engines.alternative import MatchOptions
from cepctl.engines.match import match_events
from cepctl.engines.results import ordered
from cepctl.plan.plan import Plan


def run(
    plan: Plan, events: pa.Table, options: MatchOptions | None = None, *, top: int | None = None
) -> pa.Table:
    """Run a plan on an event table; rows as `cepctl.engines.results.ordered` gives them."""
    return ordered(match_events(plan, events, options), top)
