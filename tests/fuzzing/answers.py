"""What an engine says to a case: rows by signature or key, or an error; when two answers are one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pyarrow as pa

from cepctl.engines.worlds.engine import match_table
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import CepctlError
from cepctl.plan.plan import Plan

CONFIDENCE_ERROR = 1e-9
Rows: TypeAlias = Mapping[tuple[Any, ...], Mapping[str, Any]]
Answer: TypeAlias = Rows | CepctlError
OPEN = "occurrence"
"""The column of GROUP BY that is null where it would cost too much."""


class Disagreement(Exception):
    """Two answers that should be one."""

    def __init__(self, what: str, expected: str, found: str) -> None:
        super().__init__(what)
        self.what, self.expected, self.found = what, expected, found


def judged(plan: Plan, table: pa.Table) -> Answer:
    """What the worlds engine says."""
    return answer_of(plan, match_table if plan.group_by is None else group_table, table)


def answer_of(plan: Plan, engine: Callable[[Plan, pa.Table], pa.Table], table: pa.Table) -> Answer:
    """Rows, or how the engine refuses them."""
    if plan.never is not None:
        return {}
    try:
        return rows_of(plan, engine(plan, table))
    except CepctlError as error:
        return error


def rows_of(plan: Plan, found: pa.Table) -> Rows:
    """Rows by their signature or key, which stands in one of them."""
    rows = found.to_pylist()
    if plan.group_by is None:
        by_key = {tuple(map(tuple, row["signature"])): row for row in rows}
    else:
        names = [column.name for column in plan.group_by]
        by_key = {tuple(row[name] for name in names): row for row in rows}
    if len(by_key) < len(rows):
        raise Disagreement("a row was returned twice", "each row once", shown(rows))
    return by_key


def require_same(what: str, expected: Answer, found: Answer) -> None:
    """Raise Disagreement where answers differ: in an error, a row, or a number by more than is allowed."""
    failed = isinstance(expected, CepctlError) or isinstance(found, CepctlError)
    if failed and type(expected) is not type(found):
        differs = f"{what}: {_kind(found)} instead of {_kind(expected)}"
        raise Disagreement(differs, shown_answer(expected), shown_answer(found))
    if isinstance(expected, CepctlError) or isinstance(found, CepctlError):
        return
    if expected.keys() != found.keys():
        raise Disagreement(f"{what}: other rows", shown_answer(expected), shown_answer(found))
    for key, row in expected.items():
        for name, value in row.items():
            if not _same(name, value, found[key].get(name)):
                column = name if name in _COLUMNS else "a column"
                raise Disagreement(f"{what}: {column}", shown_answer(expected), shown_answer(found))
        for name in ("confidence", OPEN):
            if not 0 <= (found[key].get(name) or 0) <= 1:
                raise Disagreement(f"{what}: no probability", shown_answer(expected), shown_answer(found))


def require_certain(what: str, expected: Rows, found: Rows) -> None:
    """Raise Disagreement where a row that every world returns has another confidence than 1."""
    for key, row in expected.items():
        if row["confidence"] == 1.0 != found[key]["confidence"]:
            raise Disagreement(f"{what}: not certain", shown_answer(expected), shown_answer(found))


_COLUMNS = ("start", "end", "confidence", OPEN, "expected", "matches", "best")


def _kind(answer: Answer) -> str:
    return type(answer).__name__ if isinstance(answer, CepctlError) else "rows"


def _same(name: str, expected: object, found: object) -> bool:
    if name == OPEN and found is None:
        return True
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(expected, found, rel_tol=CONFIDENCE_ERROR, abs_tol=CONFIDENCE_ERROR)
    return expected == found


# --- as text ---------------------------------------------------------------------------------


def shown_answer(answer: Answer) -> str:
    """An answer as text."""
    if isinstance(answer, CepctlError):
        return f"{type(answer).__name__}: {answer}"
    return shown([dict(row) for _, row in sorted(answer.items(), key=str)])


def shown(rows: list[dict[str, Any]]) -> str:
    """Rows as text, one to a line."""
    lines = [", ".join(f"{name}={_text(value)}" for name, value in row.items()) for row in rows]
    return "\n".join(lines) or "no row"


def _text(value: object) -> str:
    if isinstance(value, list):
        return " ".join("+".join(map(str, each)) if isinstance(each, list) else str(each) for each in value)
    return repr(value)
