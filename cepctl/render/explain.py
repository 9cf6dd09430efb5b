"""A plan on standard output: headings stand out on a terminal, pipes get plain text or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from rich.text import Text

from cepctl.plan.evaluation_order import OrderName
from cepctl.plan.explain import to_json, to_text
from cepctl.plan.plan import Plan
from cepctl.render.console import SafeConsole

_HEADING = r"^[A-Z][a-z]+(?: (?:between events|\d+ of \d+))?(?=  |$)"
_ALARM = r"^(?:NEVER MATCHES|Warning) .*$"


@dataclass(frozen=True)
class ShownFacts:
    """What is shown beside a plan: events by type, the order asked for, how Spark would split the events.

    `memory` are words, `memory_figures` numbers on what the run would take; `sketch` says what sketches leave
    to be read, `ties` what is given makes of the events, `forecast` what a trial makes of the run.
    """

    counts: Mapping[str, int] | None
    order: OrderName
    slices: str | None = None
    memory: str | None = None
    memory_figures: Mapping[str, int] | None = None
    sketch: str | None = None
    ties: str | None = None
    forecast: str | None = None
    forecast_figures: Mapping[str, int | float] | None = None


def plan_json(plan: Plan, facts: ShownFacts) -> dict[str, Any]:
    """The plan and the facts as values that JSON has."""
    beside: dict[str, Any] = {"slices": facts.slices, "memory": facts.memory_figures, "sketch": facts.sketch}
    ties = {} if facts.ties is None else {"ties": facts.ties}
    beside |= {"forecast": facts.forecast_figures}
    return to_json(plan, facts.counts, facts.order) | beside | ties


def print_plan(plan: Plan, facts: ShownFacts, *, as_json: bool, file: TextIO | None = None) -> None:
    """Print it to a file, standard output by default."""
    file = file or sys.stdout
    if as_json:
        file.write(json.dumps(plan_json(plan, facts), ensure_ascii=False, indent=2) + "\n")
        return
    console = SafeConsole(file, highlight=False, soft_wrap=True)
    lines = to_text(plan, facts.counts, facts.order).splitlines()
    if facts.slices is not None:
        lines.append(f"Slices      {facts.slices}")
    if facts.ties is not None:
        lines.append(f"Ties        {facts.ties}")
    if facts.sketch is not None:
        lines.append(f"Sketch      {facts.sketch}")
    if facts.forecast is not None:
        lines.append(f"Forecast    {facts.forecast}")
    if facts.memory is not None:
        lines.append(f"Memory      {facts.memory}")
    for line in lines:
        shown = Text(line)
        shown.highlight_regex(_HEADING, "bold")
        shown.highlight_regex(_ALARM, "bold red")
        console.print(shown)
