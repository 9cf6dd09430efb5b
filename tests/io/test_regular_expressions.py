"""No regular expression that meets the bytes of a log takes time that grows faster than the bytes.

Every expression of the readers is run on texts made to hurt it: each of its repetitions pumped up, with a
sign after it that fits nothing.  The process that does so names each before it begins, and has to come to
its end: what grows with the square of such texts would take minutes, what grows faster would not end at all.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cepctl.io

parser: Any = importlib.import_module("re._parser")

ROOT = Path(__file__).parents[2]
PUMPED = 100_000
SECONDS = 15
MISFIT = "\x00"
USES = ("match", "fullmatch", "search", "sub", "findall", "finditer", "split")
# Their text is what a user wrote, or is in the path of a file.
NOT_OF_LOGS = {"log4j.patterns", "source.locations", "log4j.events._DAEMON_LOG"}


def expressions() -> Iterator[tuple[str, re.Pattern[Any], tuple[str, ...]]]:
    """The compiled expressions of the readers, by module and name, and how each is used there."""
    for found in pkgutil.walk_packages(cepctl.io.__path__, "cepctl.io."):
        short = found.name.removeprefix("cepctl.io.")
        if short in NOT_OF_LOGS:
            continue
        module = importlib.import_module(found.name)
        source = Path(str(module.__file__)).read_text()
        for name, value in vars(module).items():
            for pattern in flat(value):
                if isinstance(pattern, re.Pattern) and f"{short}.{name}" not in NOT_OF_LOGS:
                    uses = tuple(use for use in USES if re.search(rf"\b{name}\.{use}\b", source))
                    yield f"{short}.{name}", pattern, uses or ("search",)


def flat(value: Any) -> Iterator[Any]:
    """A value, or what is in it where it is a tuple."""
    if isinstance(value, tuple):
        for each in value:
            yield from flat(each)
    else:
        yield value


def hurting(pattern: re.Pattern[Any]) -> Iterator[str]:
    """Texts that fit up to a pumped repetition, and no further; and the whole text again and again."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    for optional in (False, True):
        count = repetitions(tree)
        for chosen in range(count):
            pumped = Pump(chosen, optional=optional)
            pumped.render(tree)
            yield pumped.text + MISFIT
        whole = Pump(-1, optional=optional)
        whole.render(tree)
        yield (whole.text or "a") * (PUMPED // max(len(whole.text), 1)) + MISFIT


def repetitions(tree: Any) -> int:
    return sum(str(op) in REPEATS for op, _ in nodes(tree))


REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def nodes(tree: Any) -> Iterator[tuple[Any, Any]]:
    for op, value in tree:
        yield op, value
        for inside in below(op, value):
            yield from nodes(inside)


def below(op: Any, value: Any) -> list[Any]:
    name = str(op)
    if name in REPEATS:
        return [value[2]]
    if name == "SUBPATTERN":
        return [value[3]]
    if name == "BRANCH":
        return list(value[1])
    return [value[1]] if name in ("ASSERT", "ASSERT_NOT") else []


class Pump:
    """A text that fits an expression, up to the chosen repetition, which is pumped up."""

    def __init__(self, chosen: int, *, optional: bool) -> None:
        self.text = ""
        self._left = chosen
        self._optional = optional
        self._done = False

    def render(self, tree: Any) -> None:
        for op, value in tree:
            if self._done:
                return
            self._node(str(op), value)

    def _node(self, name: str, value: Any) -> None:
        if name in REPEATS:
            self._repeat(*value)
        elif name == "BRANCH":
            self.render(value[1][0])
        elif name == "SUBPATTERN":
            self.render(value[3])
        elif name == "LITERAL":
            self.text += chr(value)
        elif name == "NOT_LITERAL":
            self.text += "a" if value != ord("a") else "b"
        elif name == "ANY":
            self.text += "x"
        elif name == "IN":
            self.text += member(value)

    def _repeat(self, least: int, most: int, inside: Any) -> None:
        chosen = self._left == 0
        self._left -= 1
        before = len(self.text)
        if not chosen:
            for _ in range(max(least, self._optional)):
                self.render(inside)
            return
        self.render(inside)
        if not self._done:
            unit = self.text[before:] or "a"
            self.text += unit * min(int(most), PUMPED // len(unit))
            self._done = True


def member(items: Any) -> str:
    """A sign of a class."""
    signs = [" ", "0", "a", "A", "_", ".", "-", ",", '"', "x", "/", "[", "\x01"]
    first, value = items[0]
    if str(first) == "LITERAL":
        return chr(value)
    if str(first) == "RANGE":
        return chr(value[0])
    wanted = re.compile("[" + class_text(items) + "]")
    return next(sign for sign in signs if wanted.match(sign))


def class_text(items: Any) -> str:
    text = ""
    for op, value in items:
        name = str(op)
        if name == "NEGATE":
            text += "^"
        elif name == "CATEGORY":
            letters = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}
            letter = letters[str(value).removeprefix("CATEGORY_").removeprefix("NOT_")]
            text += "\\" + (letter.upper() if "_NOT_" in str(value) else letter)
        elif name == "LITERAL":
            text += re.escape(chr(value))
        elif name == "RANGE":
            text += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return text


def run_all(pattern: re.Pattern[Any], uses: tuple[str, ...]) -> None:
    for text in hurting(pattern):
        given = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
        for use in uses:
            if use == "sub":
                pattern.sub(type(given)(), given)
            elif use == "finditer":
                list(pattern.finditer(given))
            else:
                getattr(pattern, use)(given)


def one_after_the_other(found: list[tuple[str, re.Pattern[Any], tuple[str, ...]]]) -> None:
    for name, pattern, uses in found:
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
        run_all(pattern, uses)


def ended(code: str) -> str | None:
    """The name of the expression in which a process hung; None where it came to its end."""
    beginning = (
        "import sys; sys.path.insert(0, sys.argv[1])\nfrom tests.io.test_regular_expressions import *\n"
    )
    # Seconds of the processor: a machine with other work does not make an expression slow.
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))\n"
    command = [sys.executable, "-c", limit + beginning + code, str(ROOT)]
    done = subprocess.run(command, capture_output=True, check=False)
    if -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
        return done.stdout.decode().split()[-1]
    done.check_returncode()
    return None


def test_every_expression_of_the_readers_takes_time_that_grows_with_the_text() -> None:
    assert ended("one_after_the_other(list(expressions()))") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression", [r"\s*(?:x)?\s*<rrd", r"\[((?:\s*\"(?:[^\"])*\"\s*,?)*)\s*\]", "(a|a)*b"]
)
def test_an_expression_that_grows_faster_is_found(expression: str) -> None:
    assert ended(f"one_after_the_other([('slow', re.compile({expression!r}), ('match',))])") == "slow"


def test_the_expressions_are_found() -> None:
    names = {name for name, _, _ in expressions()}
    telling = {"ganglia.rrd_dump._ROOT", "contract.times._LOOSE"}
    assert telling | {"source.xml_stream._COMMENT", "templates.masking._VARIABLE"} <= names
