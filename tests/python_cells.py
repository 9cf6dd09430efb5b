"""Runs the Python of pages and notebooks, block by block, and tells what each would show."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

BLOCK = re.compile(
    r"(?<!-->\n)^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<shown>.*?)^```$)?", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Shown:
    """What a cell prints, and the value of its last line, if that is an expression."""

    printed: str
    value: Any

    @property
    def text(self) -> str:
        """Both as a terminal shows them."""
        return self.printed + ("" if self.value is None else f"{self.value!r}\n")


@dataclass(frozen=True)
class Block:
    """A block of a page, what the page says it shows, and its first line."""

    code: str
    shown: str | None
    line: int


def run_cell(code: str, names: dict[str, Any]) -> Shown:
    """Run a cell as a notebook does; `names` are those of all cells."""
    tree = ast.parse(code)
    last = tree.body[-1] if tree.body else None
    held, value = io.StringIO(), None
    with contextlib.redirect_stdout(held):
        if isinstance(last, ast.Expr):
            tree.body.pop()
            exec(compile(tree, "<cell>", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
        else:
            exec(compile(tree, "<cell>", "exec"), names)
    return Shown(held.getvalue(), value)


def blocks_of(page: str) -> Iterator[Block]:
    """The blocks of Python on a page that it writes to no file; text right below one is what it shows."""
    for found in BLOCK.finditer(page):
        yield Block(found["code"], found["shown"], page.count("\n", 0, found.start("code")) + 1)
