"""Rows as a Markdown page and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from results import Part, Row

HEADINGS = (
    "case",
    "seconds",
    "CPU s",
    "count",
    "per second",
    "ratio",
    "against",
    "goal",
    "met",
    "checked",
    "note",
)

Found = Sequence[tuple[Part, Sequence[Row], str | None]]
"""Each part with its rows and, where a check failed, what it said."""


def markdown(machine: Mapping[str, str], found: Found, head: str) -> str:
    """The page: the machine, then a table for each part."""
    lines = ["# Bench of cepctl", "", head, ""]
    lines += [f"- {name}: {value}" for name, value in machine.items()]
    for part, rows, problem in found:
        lines += ["", *_section(part, rows)]
        if problem:
            lines += ["", f"**Wrong result**: {problem}"]
    return "\n".join(lines) + "\n"


def _section(part: Part, rows: Sequence[Row], note: str = "") -> list[str]:
    command = f"`scripts/bench --only {part.name}`"
    return [f"## {part.title}", "", command, "", *([note, ""] if note else []), *_table(rows)]


def _table(rows: Sequence[Row]) -> list[str]:
    """The rows without the columns that are empty in all of them."""
    cells = [_cells(row) for row in rows]
    used = [i for i in range(len(HEADINGS)) if any(each[i] for each in cells)]
    lines = [HEADINGS, ["---"] * len(HEADINGS), *cells] if rows else []
    return [_line([each[i] for i in used]) for each in lines]


def as_json(machine: Mapping[str, str], found: Found) -> str:
    """The same for programs, with every figure in full."""
    parts: dict[str, Any] = {
        part.name: {"title": part.title, "rows": [_object(row) for row in rows], "wrong": problem}
        for part, rows, problem in found
    }
    return json.dumps({"machine": dict(machine), "parts": parts}, indent=2) + "\n"


def write(folder: Path, machine: Mapping[str, str], found: Found, head: str) -> None:
    """Write bench.md and bench.json."""
    (folder / "bench.md").write_text(markdown(machine, found, head), encoding="utf-8")
    (folder / "bench.json").write_text(as_json(machine, found), encoding="utf-8")


def put_into(page: Path, machine: Mapping[str, str], found: Found) -> None:
    """Replace the sections of these parts in a page of tables; a new one goes to the end, the others stay.

    A part with a wrong result keeps its old section.
    """
    head, *sections = re.split(r"^(?=## )", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    by_title = {section.partition("\n")[0]: section.rstrip() for section in sections}
    on = "; ".join(f"{name} {value}" for name, value in machine.items())
    for part, rows, problem in found:
        if problem is None:
            lines = _section(part, rows, f"Measured on: {on}.")
            by_title[lines[0]] = "\n".join(lines)
    page.write_text("\n\n".join([head.rstrip(), *by_title.values()]) + "\n", encoding="utf-8")


def missed(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows that miss a goal."""
    return (row for row in rows if _met(row) == "no")


def short(row: Row) -> str:
    """One line for the terminal."""
    parts = [row.case]
    if row.timing:
        parts.append(f"{row.timing.seconds:.3f} s")
    if row.rate:
        parts.append(f"{row.rate:,.0f} {row.unit}/s")
    if row.ratio is not None:
        parts.append(f"ratio {row.ratio:.3g} ({row.against})")
    if _goal(row):
        parts.append(f"goal {_goal(row)}: {'met' if _met(row) == 'yes' else 'NOT met'}")
    return "  ".join([*parts, row.note] if row.note else parts)


def _cells(row: Row) -> list[str]:
    return [
        row.case,
        f"{row.timing.seconds:.3f}" if row.timing else "",
        f"{row.timing.cpu_seconds:.3f}" if row.timing else "",
        f"{row.count:,} {row.unit}" if row.count else "",
        f"{row.rate:,.0f}" if row.rate else "",
        "" if row.ratio is None else f"{row.ratio:.3g}",
        row.against,
        _goal(row),
        _met(row),
        row.checked,
        row.note,
    ]


def _goal(row: Row) -> str:
    goals = [f"ratio {row.goal}"] if row.goal else []
    goals += [f"{row.unit}/s {row.rate_goal}"] if row.rate_goal else []
    return ", ".join(goals)


def _met(row: Row) -> str:
    results = []
    if row.goal and row.ratio is not None:
        results.append(row.goal.met(row.ratio))
    if row.rate_goal and row.rate is not None:
        results.append(row.rate_goal.met(row.rate))
    return "" if not results else "yes" if all(results) else "no"


def _object(row: Row) -> dict[str, Any]:
    return {**asdict(row), "per_second": row.rate, "met": {"yes": True, "no": False}.get(_met(row))}


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
