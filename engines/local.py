"""The local runner: the partition function in this process, on all cores, without Java."""

from __future__ import annotations

import os
from dataclasses import replace

import pyarrow as pa

from cepctl.engines.alternative import MatchOptions
from cepctl.engines.match import match_events
from cepctl.engines.results import ordered
from cepctl.plan.plan import Plan


def run(plan: Plan, events: pa.Table, options: MatchOptions | None = None) -> pa.Table:
    """Run a plan on an event table; rows as `cepctl.engines.results.ordered` gives them."""
    options = replace(options or MatchOptions(), threads=usable_cores())
    return ordered(match_events(plan, events, options), options.top)


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
