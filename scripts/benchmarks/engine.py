"""The engine as it is timed: from a Parquet file to matches in Arrow, on all cores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import timed
from results import Setup, Timing
from workloads import COLUMNS

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.plan.plan import Plan

NO_CAP = MatchOptions(max_matches=1 << 40)


def matches_of(
    setup: Setup, plan: Plan, path: Path, options: MatchOptions = NO_CAP
) -> tuple[Timing, pa.Table]:
    """Time the reading of the events and the search, and return the last matches."""
    options = replace(options, threads=setup.cores)
    return timed(setup, lambda: match_events(plan, pq.read_table(path, columns=list(COLUMNS)), options))


def confidences(matches: pa.Table) -> float:
    """The sum over all matches."""
    return float(np.sum(matches.column("confidence").to_numpy()))
