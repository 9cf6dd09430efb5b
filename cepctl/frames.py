"""`frame.cep.match(query)` for Polars and pandas, and the cell magic `%%cep` for notebooks.

    import cepctl.frames             registers `.cep` with those of Polars and pandas that are installed
    %load_ext cepctl.frames          registers `%%cep`, too

What comes back is a frame of the same library, with the types of the Parquet that `cepctl match` writes.
"""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import polars as pl

from cepctl.errors import CepctlError, EventSchemaError, UsageError
from cepctl.library.events import is_of
from cepctl.library.follows import follows
from cepctl.library.match import match

if TYPE_CHECKING:
    from cepctl.library.matches import Matches

_TIMES = ("time", "lower")


class CepNamespace:
    """What a frame of events can be asked: `.cep` of it."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def match(self, query: Any, **options: Any) -> Any:
        """The matches of a query as a frame of the same library; options are those of `cepctl.match`.

        Raises
        ------
        CepctlError
            What the user can mend, such as a frame of which nothing says which column is the time.
        """
        with self.matches(query, **options) as found:
            return found.pandas() if is_of(self._frame, "pandas") else found.polars()

    def matches(self, query: Any, **options: Any) -> Matches:
        """The matches of a query as `cepctl.match` gives them, with their summary and their timelines."""
        self._require_time(options)
        return match(query, self._frame, **options)

    def follows(self, **options: Any) -> Any:
        """The rows of `cepctl.follows` as a frame of the same library."""
        self._require_time(options)
        rows = follows(self._frame, **options).rows
        return rows.to_arrow().to_pandas() if is_of(self._frame, "pandas") else rows

    def _require_time(self, options: dict[str, Any]) -> None:
        """Name the columns of times of a frame, where neither names nor `map` say which one is meant."""
        schema = _times_of(self._frame)
        named = {*schema, *(options.get("map") or {})}
        if named & set(_TIMES):
            return
        times = [name for name, is_time in schema.items() if is_time]
        if not times:
            raise EventSchemaError(
                f"the frame has no column of times (columns: {', '.join(schema) or 'none'}); events need "
                "`time`, or `lower` and `upper`"
            )
        known = "column of times is" if len(times) == 1 else "columns of times are"
        raise EventSchemaError(
            f"the frame has no column `time`; its {known} {', '.join(times)}: say which one is meant with "
            f"map={{'time': '{times[0]}'}}"
        )


def _times_of(frame: Any) -> dict[str, bool]:
    """The columns of a frame, and whether they hold times."""
    if is_of(frame, "pandas"):
        named = [name for name in frame.index.names if name is not None]
        columns = {**{name: frame.index.get_level_values(name).dtype for name in named}, **dict(frame.dtypes)}
        return {str(name): getattr(kind, "kind", "") == "M" for name, kind in columns.items()}
    return {name: kind.is_temporal() for name, kind in frame.lazy().collect_schema().items()}


def load_ipython_extension(shell: Any) -> None:
    """Register `%%cep`, as `%load_ext cepctl.frames` asks for."""
    shell.register_magic_function(_magic(shell), "cell", "cep")


def _magic(shell: Any) -> Any:
    def cep(line: str, cell: str) -> Matches:
        """`%%cep EVENTS [-o NAME] [OPTION=VALUE ...]`: run the query of the cell on events.

        EVENTS is the name of a variable, or a path.  The matches are shown, and kept in NAME.
        """
        try:
            return _run(line, cell, shell.user_ns)
        except CepctlError as problem:
            raise _in_a_line(problem) from None

    return cep


def _in_a_line(problem: CepctlError) -> Exception:
    """The error that a notebook shows as a line of its own, without the calls that led to it."""
    if find_spec("IPython") is None:
        return problem
    from IPython.core.error import UsageError as ShownError

    shown: Exception = ShownError(str(problem))
    return shown


def _run(line: str, cell: str, names: dict[str, Any]) -> Matches:
    words = shlex.split(line)
    target = None
    if "-o" in words:
        at = words.index("-o")
        if at + 1 >= len(words) or not words[at + 1].isidentifier():
            raise UsageError("%%cep: -o takes the name of a variable")
        target = words[at + 1]
        del words[at : at + 2]
    if not words:
        raise UsageError("%%cep EVENTS: name a variable that holds events, or a path")
    options = dict(_option(word) for word in words[1:])
    events = names.get(words[0], words[0])
    try:
        found = match(cell, events, **options)
    except TypeError as problem:
        raise UsageError(f"%%cep: {problem}") from None
    if target is not None:
        names[target] = found
    return found


def _option(word: str) -> tuple[str, Any]:
    """`top_k=3` as a keyword and its value, of a number or a text."""
    name, equals, value = word.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"%%cep: '{word}' is not of the form option=value, such as top_k=3")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, {"True": True, "False": False}.get(value, value)


def _register() -> None:
    pl.api.register_dataframe_namespace("cep")(CepNamespace)
    pl.api.register_lazyframe_namespace("cep")(CepNamespace)
    if find_spec("pandas") is not None:
        import pandas as pd

        pd.api.extensions.register_dataframe_accessor("cep")(CepNamespace)


_register()
