"""The table of expression cases: what each evaluator must give for each row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

Value = int | float | str | bool | None


@dataclass(frozen=True)
class Case:
    """An expression and its value for each row."""

    expression: str
    values: tuple[Value, ...]


def _literal(text: str) -> tuple[Value, ...]:
    names = {"__builtins__": {}, "nan": math.nan, "inf": math.inf}
    return tuple(eval(text, names))  # the table is ours, and nan is not a Python literal


def _read() -> tuple[dict[str, tuple[str, tuple[Value, ...]]], list[Case]]:
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    head, _, body = text.partition("# cases\n")
    columns = {}
    for line in head.splitlines():
        if not line.startswith("#"):
            name, kind, values = line.split(" ", 2)
            columns[name] = (kind, _literal(values))
    lines = body.splitlines()
    return columns, [
        Case(each, _literal(values)) for each, values in zip(lines[::2], lines[1::2], strict=True)
    ]


COLUMNS, CASES = _read()
"""Columns by name: their type (integer, float, string, boolean) and their values, one per row."""


def same(one: Value, other: Value) -> bool:
    """Equal in type and value; nan is nan."""
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and one == other


def different(case: Case, values: list[Value]) -> str:
    """What to print when an evaluator disagrees; empty when it agrees."""
    if len(values) == len(case.values) and all(map(same, case.values, values)):
        return ""
    return f"{case.expression}\n  expected {case.values}\n  found    {tuple(values)}"
