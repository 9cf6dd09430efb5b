"""Pages that show queries: what each prints is worked out anew and compared with the page.

A page holds one ```csv block, the events, and pairs of blocks: ```cep is a query, the ```text block right
after it what the query gives, either the rows (confidence to four digits) or its error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from cepctl.engines.rows.groups import groups_in_order
from cepctl.engines.worlds.engine import match_table
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import CepctlError
from cepctl.language.parser import parse
from cepctl.matching.inputs import open_events
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan

DOCS = Path(__file__).resolve().parents[2] / "docs"
_BLOCK = re.compile(r"^```(csv|cep|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A query of a page, its line there, and what the page says that it gives."""

    query: str
    line: int
    shown: str


def examples_of(page: str) -> Iterator[Example]:
    blocks = list(_BLOCK.finditer(page))
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if block[1] == "cep":
            directly_after = after is not None and after[1] == "text" and after.start() == block.end() + 1
            shown = after[2] if after is not None and directly_after else ""
            yield Example(block[2].rstrip("\n"), page.count("\n", 0, block.start()) + 1, shown)


def events_of(page: str, folder: Path) -> tuple[pa.Table, EventSchema]:
    content = next(block[2] for block in _BLOCK.finditer(page) if block[1] == "csv")
    file = folder / "events.csv"
    file.write_text(content, encoding="utf-8")
    with open_events([str(file)]) as inputs:
        return inputs.read(), inputs.schema


def outcome(query: str, events: pa.Table, schema: EventSchema) -> str:
    """The rows that a query gives, or the error and the warnings in their place."""
    try:
        plan = analyze(parse(query), schema)
        found = match_table(plan, events) if plan.group_by is None else group_rows(plan, events)
    except CepctlError as problem:
        return f"error: {problem}\n"
    if plan.group_by is not None:
        return "\n".join([",".join(found.column_names), *(_line(row) for row in found.to_pylist())]) + "\n"
    warnings = [f"warning: {warning}" for warning in plan.warnings]
    names = [*found.column_names[4:], "confidence", "start", "end", "match"]
    rows = sorted(
        found.rename_columns({"signature": "match"}).to_pylist(),
        key=lambda row: (-row["confidence"], row["start"], str(row["match"])),
    )
    lines = [_line({name: row[name] for name in names}) for row in rows]
    return "\n".join([*warnings, ",".join(names), *lines]) + "\n"


def group_rows(plan: Plan, events: pa.Table) -> pa.Table:
    return groups_in_order(group_table(plan, events), len(plan.group_by or ())).drop_columns(["signature"])


def _line(row: Mapping[str, object]) -> str:
    return ",".join(map(_cell, row.values()))


def _cell(value: object) -> str:
    if isinstance(value, list):
        return " ".join("+".join(ids) for ids in value)
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def fill(page: str, folder: Path) -> str:
    """The page with every ```text block after a query replaced by what the query gives."""
    events, schema = events_of(page, folder)
    for example in examples_of(page):
        before, after = (
            f"{example.query}\n```\n```text\n{example.shown}",
            outcome(example.query, events, schema),
        )
        page = page.replace(before, f"{example.query}\n```\n```text\n{after}", 1)
    return page
