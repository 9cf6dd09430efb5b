"""The formats of logs on standard output: a paragraph each for people, an array for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TextIO

from rich.markup import escape

from cepctl.io.catalogue import FormatFacts
from cepctl.render.console import SafeConsole

_PIPE_WIDTH = 100


def print_formats(formats: Sequence[FormatFacts], *, as_json: bool, file: TextIO | None = None) -> None:
    """Print them to a file, standard output by default; NO_COLOR and pipes get plain text."""
    file = file or sys.stdout
    if as_json:
        file.write(json.dumps([asdict(facts) for facts in formats], ensure_ascii=False, indent=2) + "\n")
        return
    console = SafeConsole(file, width=None if file.isatty() else _PIPE_WIDTH, highlight=False)
    for facts in formats:
        what = "" if facts.supported else "  (not read)"
        console.print(f"[bold]{escape(facts.name)}[/bold]  {escape(facts.description)}{what}")
        lines = (
            ("such as", ", ".join(facts.kinds)),
            ("events", facts.events),
            ("uncertainty", facts.uncertainty),
            ("instead", facts.remedy),
        )
        for label, text in lines:
            if text:
                console.print(f"    {label}: {escape(text)}", soft_wrap=True)
