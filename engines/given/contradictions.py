"""What is said where no possible world satisfies what is given: which clauses and events contradict it."""

from __future__ import annotations

from collections.abc import Sequence

from cepctl.engines.columns.events import Events
from cepctl.errors import ContradictionError
from cepctl.plan.plan import Given

_SHOWN = 8


def contradicted(clauses: Sequence[Given], rows: Sequence[int], events: Events) -> ContradictionError:
    """The error that names clauses, and events with their intervals in ticks."""
    said = " and ".join(f"GIVEN {text}" for text in dict.fromkeys(each.text for each in clauses))
    masses = events.masses
    distinct = list(dict.fromkeys(rows))
    shown = [f"{events.ids[row]} in {masses.lower[row]}..{masses.upper[row]}" for row in distinct[:_SHOWN]]
    more = f" and {len(distinct) - _SHOWN:,} more" if len(distinct) > _SHOWN else ""
    return ContradictionError(
        f"no possible world satisfies {said}: the intervals of {', '.join(shown)}{more} contradict it "
        "(in ticks); correct the uncertainty model, say in IF which events are meant, or leave it out"
    )
