"""What it means that rows of interval events are those of the judge."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import exact_matches
from cepctl.errors import ContradictionError, QueryTooLargeError
from cepctl.plan.plan import Plan
from tests.plans import Event, event_table, plan_of


def agrees(
    query: str,
    events: tuple[Event, ...],
    engine: Callable[[Plan, pa.Table], pa.Table] = match_events,
    least: float = 0,
) -> None:
    """The rows of an engine, or its contradiction, are the judge's; what is too large for the judge passes.

    Confidences differ by 1e-9 of their size at most, or by `least`.
    """
    plan, table = plan_of(query, lasting=True), event_table(events)
    try:
        judged = exact_matches(plan, table)
    except QueryTooLargeError:
        return
    except ContradictionError:
        if plan.never is None:
            with pytest.raises(ContradictionError):
                engine(plan, table)
        return
    found = {
        tuple(tuple(ids) for ids in row["signature"]): (row["start"], row["end"], row["confidence"])
        for row in engine(plan, table).to_pylist()
    }
    assert found.keys() == judged.keys()
    for signature, match in judged.items():
        assert found[signature][:2] == (match.start, match.end)
        assert found[signature][2] == pytest.approx(float(match.confidence), rel=1e-9, abs=least)
