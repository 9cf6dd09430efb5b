"""One match for programs: what `cepctl show` draws, as JSON has it, times written out."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cepctl.render.match_times import MatchTimes, Times
from cepctl.render.one_match import reason_text

if TYPE_CHECKING:
    from cepctl.engines.diagnosis.shown import EventShown, OneMatch


def match_facts(match: OneMatch, times: Times = "iso") -> dict[str, Any]:
    """Its events and what of their intervals is usable, its rivals, and how its confidence comes about.

    Where the events are no match, `reasons` says why not, and there is no confidence.
    """
    written = MatchTimes(match, times, dated=True)
    row = match.whole or match
    facts: dict[str, Any] = {"reasons": [reason_text(match, each) for each in match.reasons]}
    if not match.reasons:
        facts |= {
            "confidence": row.confidence,
            "confidence_error": match.error if match.whole is None else 0.0,
            "start": written.full(row.start),
            "end": written.full(row.end),
        }
    facts["events"] = [
        {
            "variable": each.variable,
            **_event(each.event, written),
            "usable": None
            if each.valid_lower > each.valid_upper
            else [written.full(each.valid_lower), written.full(each.valid_upper)],
        }
        for each in match.members
    ]
    facts["factors"] = [
        {"condition": each.condition.text, "probability": each.probability} for each in match.factors
    ]
    facts["methods"] = [asdict(each) for each in match.methods]
    facts["rivals"] = [
        {**_event(each.event, written), "breaks": each.condition.text, "probability": each.probability}
        for each in match.rivals
    ]
    if match.law is not None:
        facts["law"] = asdict(match.law) | {"by": list(match.law.by)}
    facts["given"] = list(match.given.clauses) if match.given is not None else []
    return facts


def _event(event: EventShown, times: MatchTimes) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": event.event_id,
        "type": event.event_type,
        "raw_time": times.raw_times(event) or None,
        "interval": [times.full(event.lower), times.full(event.upper)],
    }
    if event.until is not None:
        found["until"] = [times.full(event.until.lower), times.full(event.until.upper)]
    return found
