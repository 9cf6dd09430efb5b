"""Errors in the words of a program: options by the keywords of the library, not of the command line."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from cepctl.errors import CepctlError
from cepctl.library.options import keywords

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_PAIR = r"[^\s=,;']+=[^\s=,;)']+"
# In the quotes of a shell where some name has signs that it reads.
_PAIRS = re.compile(rf"--(map|name|zone) ('[^'\n=]+=[^'\n]*'|{_PAIR}(?:,{_PAIR})*)")
_VALUE = re.compile(
    r"--([a-z][a-z-]*) ('[^']*'|[A-Z]{2,}|\d[\w.]*|[a-z]\w*(?:,\w+)+|[a-z]+(?=[;,)]|$| runs?\b| \())"
)
_OPTION = re.compile(r"--([a-z][a-z-]*)")
_FORMAT = "(--format; --input-format in match)"


def in_keywords(text: str) -> str:
    """A message with its options as keywords; one that no call of the library takes stays as it is.

    Examples
    --------
    >>> in_keywords("which is it: --map time=COLUMN; or --top-k 3, --max-memory")
    "which is it: map={'time': 'COLUMN'}; or top_k=3, max_memory"
    >>> in_keywords("say which are what: --map 'event_type=the kind,time=when'")
    "say which are what: map={'event_type': 'the kind', 'time': 'when'}"
    >>> in_keywords("one row for all with --kleene summary, and --state")
    'one row for all with kleene=summary, and --state'
    >>> in_keywords("name them: --columns-of event_type,time,column3 (with it 2 of 2)")
    "name them: columns_of='event_type,time,column3' (with it 2 of 2)"
    """
    text = text.replace(_FORMAT, "(format; input_format in match)")
    text = _PAIRS.sub(_dictionary, text)
    text = _VALUE.sub(lambda found: _named(found[1], found[0], f"={_value(found[2])}"), text)
    return _OPTION.sub(lambda found: _named(found[1], found[0], ""), text)


def _value(written: str) -> str:
    """A value as a program has it: a list of names is a text."""
    return repr(written) if re.fullmatch(r"\w+(?:,\w+)+", written) else written


def _dictionary(found: re.Match[str]) -> str:
    # Double quotes protect the commas of names.
    pairs = (each.partition("=") for each in next(csv.reader([found[2].strip("'")])))
    return f"{found[1]}={ ({field: column for field, _, column in pairs}) }"


def _named(option: str, written: str, value: str) -> str:
    keyword = option.replace("-", "_")
    return f"{keyword}{value}" if keyword in keywords() else written


def errors_in_keywords(call: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """A call whose errors name keywords."""

    @wraps(call)
    def calling(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        try:
            return call(*arguments, **options)
        except CepctlError as problem:
            problem.args = tuple(
                in_keywords(each) if isinstance(each, str) else each for each in problem.args
            )
            raise

    return calling
