"""The matches of a query, as a program looks at them."""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from cepctl.errors import JobError, UsageError
from cepctl.library.found import Found, without_raw_times
from cepctl.library.notebook import python_rows
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    from types import TracebackType

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from cepctl.engines.rows.number_order import Piece

Times = Literal["iso", "ticks"]
TIMES: tuple[Times, ...] = ("iso", "ticks")
_ROWS_AT_ONCE = 10_000
ROWS_SHOWN = 20
_WIDTH = 120


_HABITS = {
    **dict.fromkeys(("to_pandas", "toPandas", "df", "to_df", "DataFrame"), ".pandas() is a frame of pandas"),
    **dict.fromkeys(("to_polars", "pl"), ".polars() is a frame of Polars"),
    **dict.fromkeys(("to_arrow", "fetch_arrow_table", "table_arrow"), ".arrow() is a table of Arrow"),
    **dict.fromkeys(
        ("fetchall", "collect", "to_dicts", "to_pylist", "rows", "to_list"),
        "list(matches) are its rows as dicts, and head() the first of them",
    ),
    **dict.fromkeys(
        ("to_csv", "write_csv", "to_parquet", "write_parquet", "to_json"),
        "frames are written: .polars().write_csv(...), .pandas().to_csv(...)",
    ),
    **dict.fromkeys(("shape", "count", "size"), "len(matches) is how many there are"),
    **dict.fromkeys(("show", "plot", "explain"), "cepctl.show(query, events) explains one match"),
    **dict.fromkeys(("report", "to_html"), "cepctl.report(query, events, 'page.html') draws them"),
    **dict.fromkeys(("columns", "schema", "dtypes"), ".arrow().schema has names and types of the columns"),
    "why_not": "cepctl.why_not(query, events) tells what stopped partial matches",
}
"""What other libraries call it, and how it is done here."""


class Matches:
    """The matches of a query, the most probable first; `len` tells how many, iteration gives one at a time.

    A row is a dict, since columns are called as RETURN calls them: `row["a.task_id"]`.  Its columns are
    `match` (the ids of its events as text), `signature` (the same as nested lists), `start` and `end`,
    `confidence` with `confidence_error` where some are estimates, and those of RETURN.  Times are datetimes
    in UTC, or numpy.datetime64 where ticks are finer than a microsecond, at which datetimes end.

    Rows that take much memory, and events that were not a dataset yet, lie in temporary files, which
    `close`, the end of a `with` block or the garbage collector removes.
    """

    def __init__(self, found: Found, opened: ExitStack, times: Times = "iso") -> None:
        self.summary = found.summary
        self._found, self._times = found, times
        self._closed = weakref.finalize(self, _close, opened, os.getpid())

    @property
    def found(self) -> Found:
        """Plan, events and rows as the engines know them, for code that goes on with them."""
        return self._found

    if not TYPE_CHECKING:  # for them only what there is

        def __getattr__(self, name: str) -> object:
            hint = _HABITS.get(name, ".polars(), .pandas() and .arrow() are its rows, with what these can do")
            raise AttributeError(f"Matches has no '{name}'{f'; {hint}' if name[:1] != '_' else ''}")

        def __getitem__(self, key: object) -> object:
            """Say how a row or a column is come by."""
            column = (
                f".polars()[{key!r}] is that column" if isinstance(key, str) else "head() are the first rows"
            )
            raise TypeError(f"Matches have no items; list(matches) are their rows as dicts, {column}")

    def arrow(self) -> pa.Table:
        """All rows as one table; times are timestamps in UTC, or ticks where these were asked for.

        Raises
        ------
        QueryTooLargeError
            If they do not fit in memory; iteration takes no more for more rows.
        """
        return self._presented(self.table())

    def polars(self) -> pl.DataFrame:
        """All rows as a frame of Polars; raises as `arrow` does."""
        import polars as pl

        frame = pl.from_arrow(self.arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame

    def pandas(self) -> pd.DataFrame:
        """All rows as a frame of pandas, which has to be installed; raises as `arrow` does."""
        try:
            import pandas  # noqa: F401  (Arrow needs it)
        except ImportError:
            raise UsageError(
                "pandas is not installed; install it (pip install pandas), or take .polars() or .arrow()"
            ) from None
        return self.arrow().to_pandas()

    def table(self) -> pa.Table:
        """All rows as the engines give them, times in ticks; raises as `arrow` does."""
        self._require_files()
        return without_raw_times(self._found.rows.table())

    def blocks(self, limit: int | None = None) -> Iterator[pa.Table]:
        """The rows as the engines give them, times in ticks, one block or more; at most `limit` of them."""
        yield from (piece() for piece in self.pieces(limit))

    def pieces(self, limit: int | None = None, *, nested: bool = True) -> Iterator[Piece]:
        """What makes these blocks, each in any thread; without `nested` perhaps without nested lists."""
        self._require_files()
        for piece in self._found.rows.pieces(limit, nested=nested):
            yield partial(_shown_rows, piece)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for block in self.blocks():
            for start in range(0, block.num_rows, _ROWS_AT_ONCE):
                yield from python_rows(self._presented(block.slice(start, _ROWS_AT_ONCE)))

    def __len__(self) -> int:
        return self.summary.rows

    def close(self) -> None:
        """Remove temporary files; rows that were held in memory stay."""
        self._closed()

    def __enter__(self) -> Matches:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def head(self, rows: int = 5) -> pa.Table:
        """The first rows as a table like that of `arrow`."""
        return self._presented(self._first(rows))

    def __repr__(self) -> str:
        from cepctl.render.matches import matches_text

        if not self._readable:
            return f"{self.summary}\n(closed)"
        width = shutil.get_terminal_size((_WIDTH, 0)).columns
        shown = self._shown()
        text = f"{matches_text(self._texts(shown), width)}\n" if shown.num_rows else ""
        more = len(self) - shown.num_rows
        rest = f"... and {more:,} more rows\n" if more else ""
        return f"{text}{rest}{self.summary}"

    def _repr_html_(self) -> str:
        """The first rows and the summary for a notebook, with a timeline for each row."""
        from cepctl.library.notebook import matches_html

        if not self._readable:
            return f"<p>{escape(str(self.summary))} (closed)</p>"
        found = replace(self._found, behind=None) if self.closed else self._found
        return matches_html(found, self._texts(self._shown()), drawn=self._has_events)

    @property
    def closed(self) -> bool:
        """Whether temporary files are gone."""
        return not self._closed.alive

    @property
    def _readable(self) -> bool:
        return not (self.closed and self._found.rows.spilled)

    @property
    def _has_events(self) -> bool:
        """Whether the events of the rows can still be read."""
        return not (self.closed and self._found.inputs.temporary is not None)

    def _first(self, rows: int) -> pa.Table:
        """The first rows as the engines give them."""
        import pyarrow as pa

        return pa.concat_tables(self.blocks(rows))

    def _shown(self) -> pa.Table:
        """The first rows with what joins their events, while these are there."""
        from cepctl.library.shown_keys import with_shown_keys

        rows = self._first(ROWS_SHOWN)
        if not self._has_events:
            return rows
        return beside(SideFigure.SHOWN_KEYS, partial(with_shown_keys, self._found, rows), rows)

    def _texts(self, rows: pa.Table) -> pa.Table:
        """Rows for people, times as text."""
        from cepctl.io.rows.encoding import presented

        plan = self._found.plan
        return presented(rows, plan.time_unit, self._times, ticks=plan.tick_columns)

    def _presented(self, rows: pa.Table) -> pa.Table:
        from cepctl.io.rows.encoding import presented

        plan = self._found.plan
        return presented(rows, plan.time_unit, self._times, ticks=plan.tick_columns, typed=True)

    def _require_files(self) -> None:
        if not self._readable:
            raise JobError("these matches are closed, and their rows lay in temporary files; match again")


def _shown_rows(piece: Piece) -> pa.Table:
    return without_raw_times(piece())


def _close(opened: ExitStack, process: int) -> None:
    """Close what is open, unless this is a fork of the process that has opened it."""
    if os.getpid() == process:
        opened.close()
