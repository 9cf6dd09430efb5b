"""Events as a program has them (paths, tables, frames, results of Spark) as paths that can be opened.

What lies in memory is written to a temporary Parquet file, so that the rules of plain Parquet files hold for
it: which columns it needs, `map`, ids (`table#1`), the uncertainty model.

    pyarrow.Table, RecordBatchReader, any Arrow stream    written batch by batch
    Polars                                                a LazyFrame is streamed to the file
    pandas                                                with those levels of its index that have names
    a DataFrame of Spark                                  written by its tasks, if they run here

They are known by their class: none of these libraries is imported to recognise one.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from cepctl.atomic.folders import temporary_folder
from cepctl.errors import EventSchemaError, UsageError
from cepctl.library.options import PathText
from cepctl.library.query_text import kind_named
from cepctl.notices import READING
from cepctl.runners.spark.jobs import failures_told
from cepctl.runners.spark.settings import is_local

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql import DataFrame as SparkFrame


_NAME = "table"


class ArrowStream(Protocol):
    """What hands its rows over as Arrow batches: tables of Arrow, Polars and pandas, results of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


if TYPE_CHECKING:
    OneInput: TypeAlias = PathText | ArrowStream | pa.Table | pl.LazyFrame | pd.DataFrame | SparkFrame
    Events: TypeAlias = OneInput | Sequence[OneInput]


def paths_of(events: Events, opened: ExitStack) -> list[str]:
    """Where events can be read; what is written for that is gone when `opened` is closed.

    Raises
    ------
    EventSchemaError
        If a table cannot be written as Parquet.
    UsageError
        If something is neither a path nor a table.
    """
    inputs = list(cast("Iterable[OneInput]", events)) if isinstance(events, list | tuple) else [events]
    if not inputs:
        raise UsageError("there are no events: name a dataset, an event file or a log, or give a table")
    folder: Path | None = None
    paths = []
    for given in inputs:
        if isinstance(given, str | os.PathLike):
            paths.append(os.fspath(given))
            continue
        folder = folder or opened.enter_context(temporary_folder())
        tables = sum(path.startswith(str(folder)) for path in paths)
        paths.append(str(_written(given, folder / (f"{_NAME}-{tables + 1}" if tables else _NAME))))
    return paths


def _written(given: Any, file: Path) -> Path:
    """A table as a Parquet file."""
    import polars as pl
    import pyarrow as pa

    if is_of(given, "pyspark"):
        write_frame(given, file)
        return file
    try:
        if isinstance(given, pl.LazyFrame):
            given.sink_parquet(file)
        else:
            _write_batches(_reader(given), file)
    except (pa.ArrowException, pl.exceptions.PolarsError) as problem:
        raise EventSchemaError(f"the events cannot be written as Parquet: {problem}") from problem
    return file


def _reader(given: Any) -> pa.RecordBatchReader:
    """The batches of a table."""
    import polars as pl
    import pyarrow as pa

    if isinstance(given, pa.RecordBatchReader):
        return given
    if isinstance(given, pa.RecordBatch):
        given = pa.Table.from_batches([given])
    if isinstance(given, pl.DataFrame):
        given = given.to_arrow()
    if is_of(given, "pandas") and hasattr(given, "columns"):
        named = any(name is not None for name in given.index.names)
        given = pa.Table.from_pandas(given, preserve_index=named)
    if isinstance(given, pa.Table):
        return given.to_reader()
    if hasattr(given, "__arrow_c_stream__") and not _is_one_column(given):
        return pa.RecordBatchReader.from_stream(given)
    made = "; polars.DataFrame(...) makes a frame of a dict of columns, or of a list of dicts"
    raise UsageError(
        f"{kind_named(given)} is not events; give paths, a table of Arrow, or a frame of Polars, pandas or "
        f"Spark{made if isinstance(given, dict) else ''}"
    )


def _is_one_column(given: Any) -> bool:
    """Whether it is a column without a table: a Series of pandas or of Polars."""
    return (is_of(given, "pandas") or is_of(given, "polars")) and not hasattr(given, "columns")


def _write_batches(batches: pa.RecordBatchReader, file: Path) -> None:
    import pyarrow.parquet as pq

    with batches, pq.ParquetWriter(file, batches.schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def is_of(value: object, package: str) -> bool:
    """Whether a value is of a class of a package, which need not be imported for that.

    Examples
    --------
    >>> is_of(Path("a"), "pathlib"), is_of("a", "pathlib")
    (True, False)
    """
    return any(kind.__module__.partition(".")[0] == package for kind in type(value).__mro__)


def write_frame(frame: DataFrame, place: Path) -> None:
    """Write the rows of a frame below a temporary folder of this machine.

    Where Spark runs on this machine, its tasks write them, a file each.  Tasks on other machines do not reach
    the folder: then the rows come to this process as Arrow batches, and have to fit in its memory.

    Raises
    ------
    JobError
        If the Spark job fails.
    """
    import pyarrow.parquet as pq

    with failures_told():
        if _is_on_this_machine(frame):
            frame.write.parquet(place.as_uri())
            return
        logging.getLogger(READING).info("the DataFrame of Spark is collected: its tasks run elsewhere")
        pq.write_table(frame.toArrow(), place)


def _is_on_this_machine(frame: DataFrame) -> bool:
    """Whether tasks see the files of this process; a session of Spark Connect does not say."""
    context = getattr(frame.sparkSession, "_sc", None)
    return context is not None and is_local(str(context.master))
