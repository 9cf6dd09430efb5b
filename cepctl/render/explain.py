"""A plan on standard output: headings stand out on a terminal, pipes get plain text or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TextIO

from rich.console import Console
from rich.text import Text

from cepctl.plan.evaluation_order import OrderName
from cepctl.plan.explain import to_json, to_text
from cepctl.plan.plan import Plan

_HEADING = r"^[A-Z][a-z]+(?: (?:between events|\d+ of \d+))?(?=  |$)"
_ALARM = r"^(?:NEVER MATCHES|Warning) .*$"


def print_plan(
    plan: Plan,
    counts: Mapping[str, int] | None,
    order: OrderName,
    as_json: bool,
    file: TextIO | None = None,
) -> None:
    """Print it to a file, standard output by default."""
    file = file or sys.stdout
    if as_json:
        file.write(json.dumps(to_json(plan, counts, order), ensure_ascii=False, indent=2) + "\n")
        return
    console = Console(file=file, highlight=False, soft_wrap=True)
    for line in to_text(plan, counts, order).splitlines():
        shown = Text(line)
        shown.highlight_regex(_HEADING, "bold")
        shown.highlight_regex(_ALARM, "bold red")
        console.print(shown)
