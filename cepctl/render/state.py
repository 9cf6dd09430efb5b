"""The state of incremental runs as lines to be read, or as JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from cepctl.render.counting import counted
from cepctl.state.overview import Overview


def print_state(state: Overview, *, as_json: bool) -> None:
    """Print a state on standard output."""
    text = json.dumps(asdict(state), ensure_ascii=False, indent=2) if as_json else "\n".join(_lines(state))
    sys.stdout.write(f"{text}\n")


def _lines(state: Overview) -> list[str]:
    counts = state.counts
    shown = {
        "query": state.binding["query"].replace("\n", " "),
        "runs": f"{state.run}, the last one at {state.written}" + (", closed" if state.closed else ""),
        "mode": state.binding["mode"],
        "newest event": state.newest or "none",
        "watermark": state.watermark or "none",
        "final before": state.finalized_before or "nothing",
        "events kept": f"{state.events_kept:,}" + _span(state),
        "late events kept": f"{state.late_kept:,}",
        "provisional rows": f"{state.rows_provisional:,}",
        "size": f"{state.bytes:,} bytes",
        "sketch": _sketch(state),
        "inputs": f"{counted(state.inputs, 'file')}, {state.bytes_read:,} bytes read",
        "so far": f"{counted(counts.events, 'event')}, {counts.late:,} late, {counts.reopened:,} reopened, "
        f"{counts.repeated:,} with a known id; {counted(counts.emitted, 'row')} emitted, "
        f"{counts.retracted:,} retracted",
    }
    width = max(map(len, shown))
    return [f"{name:<{width}}  {value}" for name, value in shown.items()]


def _sketch(state: Overview) -> str:
    if state.events_sketched is None:
        return "none"
    return f"of {counted(state.events_sketched, 'event')}, {state.sketch_bytes:,} of these bytes"


def _span(state: Overview) -> str:
    if state.keeps_from is None:
        return ", all that can matter"
    return f", those that reach {state.keeps_from} or later"
