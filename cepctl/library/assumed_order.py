"""The order of lines of logs, of which nobody has said that it holds, beside what does not take it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepctl.notices import READING, tell

if TYPE_CHECKING:
    from cepctl.matching.inputs import EventInputs


def without_assumed_order(inputs: EventInputs, what: str) -> EventInputs:
    """The events for `what` takes no order; as they are where somebody said that records are in order."""
    if not inputs.schema.assumes_order:
        return inputs
    tell(READING, "note", f"{what} does not take the order of lines of logs, which is left out")
    return replace(inputs, schema=inputs.schema.without_order())
