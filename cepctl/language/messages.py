"""Messages about a query: place, text with a caret, what was expected, nearest known name.

line 1, column 18: there is no variable 'x'; did you mean 'b'?
  PATTERN SEQ(A a, B b) WHERE x.v > 1
                              ^
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cepctl.language.ast import Span

EXCERPT_WIDTH = 96
MAX_PROBLEMS = 20


@dataclass(frozen=True)
class Problem:
    """One thing to mend in a query text."""

    span: Span
    message: str


class QueryProblem(Exception):
    """Raised inside the parser and the analyzer to give up one clause; never leaves them."""

    def __init__(self, span: Span, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(span, message)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of a character offset."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def nearest_names(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Known names that look like `name`, the nearest first; case, `_` and `-` count for little.

    Examples
    --------
    >>> nearest_names("taskId", ["node", "task_id", "job_id"], limit=1)
    ['task_id']
    """
    if len(name) > 100:
        return []
    plain: dict[str, str] = {}
    for candidate in known:
        plain.setdefault(_without_spelling(candidate), candidate)
    found = difflib.get_close_matches(_without_spelling(name), plain, n=limit, cutoff=0.6)
    return [plain[candidate] for candidate in found]


def did_you_mean(name: str, known: Iterable[str], limit: int = 1) -> str:
    """The tail of a message: `; did you mean 'task_id'?`, or nothing."""
    names = nearest_names(name, known, limit)
    return f"; did you mean {' or '.join(repr(found) for found in names)}?" if names else ""


def name_list(names: Iterable[str], limit: int = 12) -> str:
    """Names for a message, cut after `limit`."""
    ordered = list(names)
    shown = ", ".join(ordered[:limit])
    return f"{shown}, ... ({len(ordered) - limit} more)" if len(ordered) > limit else shown


def render(text: str, problems: Sequence[Problem]) -> str:
    """All problems, in the order of the text, each with its line and a caret under the place."""
    seen: dict[tuple[int, str], Problem] = {}
    for problem in sorted(problems, key=lambda found: (found.span.start, found.span.end)):
        seen.setdefault((problem.span.start, problem.message), problem)
    shown = [_render_one(text, problem) for problem in list(seen.values())[:MAX_PROBLEMS]]
    if len(seen) > MAX_PROBLEMS:
        shown.append(f"... and {len(seen) - MAX_PROBLEMS} more")
    return "\n".join(shown)


def _render_one(text: str, problem: Problem) -> str:
    start = min(problem.span.start, len(text))
    line, column = line_and_column(text, start)
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    whole = text[line_start : line_end if line_end >= 0 else len(text)]
    first = max(0, min(column - 1 - EXCERPT_WIDTH // 2, len(whole) - EXCERPT_WIDTH))
    excerpt = "".join(sign if sign.isprintable() else " " for sign in whole[first : first + EXCERPT_WIDTH])
    width = max(1, min(problem.span.end - start, len(excerpt) - (column - 1 - first)))
    head = f"line {line}, column {column}: {problem.message}"
    return f"{head}\n  {excerpt.rstrip()}\n  {' ' * (column - 1 - first)}{'^' * width}"


def _without_spelling(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")
