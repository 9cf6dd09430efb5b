"""The forms that rows of matches are written in, one value each, and how the name of a file tells them.

A form that is written row by row is text, compressed by a further ending of its name, or typed, which holds
timestamps and is compressed in itself.  A table, which is for people, and a trace are drawn of all rows.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from cepctl.errors import UsageError

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

_DISTINCT = frozenset(("match", "signature", "start", "end"))
"""Columns whose values mostly differ from row to row."""
Encoded: TypeAlias = bytes | memoryview
ROWS_OF_GROUP = 1 << 20
"""Those of a row group of Parquet; what Arrow takes, too."""
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4"}
_OF_OTHERS = (".html", ".htm", ".xlsx", ".xls", ".ods", ".xml", ".avro", ".orc")


def _delimited(separator: str, frame: pl.DataFrame, header: bool) -> Encoded:
    sink = io.BytesIO()
    frame.write_csv(sink, include_header=header, separator=separator)
    return sink.getbuffer()


def _json_lines(frame: pl.DataFrame, header: bool) -> Encoded:
    sink = io.BytesIO()
    if not header:
        frame.write_ndjson(sink)
    return sink.getbuffer()


def _markdown(frame: pl.DataFrame, header: bool) -> bytes:
    """Rows of a table of Markdown, numbers to the right; what would end a cell or begin HTML is escaped."""
    import polars as pl

    lines = []
    if header:
        rulers = ["---:" if kind.is_numeric() else "---" for kind in frame.dtypes]
        names = pl.DataFrame({str(at): [name] for at, name in enumerate(frame.columns)})
        lines = [*_markdown_rows(names), f"| {' | '.join(rulers)} |"]
    return "".join(f"{line}\n" for line in [*lines, *_markdown_rows(frame)]).encode()


def _markdown_rows(frame: pl.DataFrame) -> list[str]:
    import polars as pl

    texts = [pl.col(name).cast(pl.String).fill_null("") for name in frame.columns]
    whole = [each.str.replace_all(r"([|<])", r"\$1").str.replace_all(r"[\r\n]+", " ") for each in texts]
    joined = pl.concat_str(whole, separator=" | ")
    return frame.select(pl.format("| {} |", joined)).to_series().to_list()


def _parquet(sink: Any, schema: pa.Schema) -> Any:
    import pyarrow.parquet as pq

    # What rows bind, and when, differs from row to row: looked up in a dictionary it takes longer and more
    # room, and nobody asks for the first and the last of such texts.
    others = [each.name for each in schema if each.name not in _DISTINCT]
    ticks = [name for name in ("start", "end") if name in schema.names]
    return pq.ParquetWriter(
        sink, schema, compression="zstd", use_dictionary=others, write_statistics=[*others, *ticks]
    )


def _arrow(sink: Any, schema: pa.Schema) -> Any:
    import pyarrow as pa

    return pa.ipc.new_file(sink, schema)


@dataclass(frozen=True)
class RowForm:
    """How rows are written.

    `text` gives rows as text, or the header that stands above them, which is empty where there is none;
    `opened` a writer of typed tables into a file; a form that is drawn has neither.  `endings` are those of
    file names, the first of which tells a form before later ones of the list.  `nested` says that it holds
    nested lists, `array` that its lines of JSON stand in one array, `cells` that spreadsheets open it.
    """

    name: str
    endings: tuple[str, ...] = ()
    text: Callable[[pl.DataFrame, bool], Encoded] | None = None
    opened: Callable[[Any, pa.Schema], Any] | None = None
    nested: bool = False
    array: bool = False
    cells: bool = False

    @property
    def by_rows(self) -> bool:
        """Whether it is written row by row."""
        return self.text is not None or self.typed

    @property
    def typed(self) -> bool:
        """Whether it has timestamps, which are text in the others."""
        return self.opened is not None

    @property
    def one_document(self) -> bool:
        """Whether the rows of another run cannot stand below those of one."""
        return self.array or self.typed

    @property
    def is_json(self) -> bool:
        """Whether its rows are JSON."""
        return self.text is _json_lines


FORMS: dict[str, RowForm] = {
    each.name: each
    for each in (
        RowForm("table"),
        RowForm("csv", (".csv",), partial(_delimited, ","), cells=True),
        RowForm("tsv", (".tsv",), partial(_delimited, "\t"), cells=True),
        RowForm("json", (".json",), _json_lines, nested=True, array=True),
        RowForm("jsonl", (".jsonl", ".ndjson"), _json_lines, nested=True),
        RowForm("md", (".md",), _markdown),
        RowForm("parquet", (".parquet",), opened=_parquet, nested=True),
        RowForm("arrow", (".arrow", ".feather"), opened=_arrow, nested=True),
        RowForm("trace", (".json",), nested=True),
    )
}
"""Every form, by its name."""


def forms_by_rows() -> tuple[str, ...]:
    """The names of those that are written row by row."""
    return tuple(each.name for each in FORMS.values() if each.by_rows)


@dataclass(frozen=True)
class RowFile:
    """In which form rows are written; `compression` is named as Arrow names it, None for none.

    `parts`: they are a folder of files.
    """

    form: str
    compression: str | None = None
    parts: bool = False


def row_file(wanted: str | None, name: str) -> RowFile:
    """The form of a file of this name, where `wanted` is the form that was asked for.

    Raises
    ------
    UsageError
        If the name tells no form and none was asked for, or tells another one.

    Examples
    --------
    >>> row_file(None, "rows.jsonl.zst")
    RowFile(form='jsonl', compression='zstd', parts=False)
    >>> row_file("csv", "rows")
    RowFile(form='csv', compression=None, parts=False)
    """
    path = PurePath(name)
    compression = COMPRESSIONS.get(path.suffix.lower())
    ending = (path.with_suffix("") if compression else path).suffix.lower()
    named = [each.name for each in FORMS.values() if ending in each.endings]
    if not named and (wanted is None or ending in _OF_OTHERS):
        raise UsageError(_unknown(name, ending))
    if named and wanted is not None and wanted not in named:
        raise UsageError(f"--format {wanted} disagrees with -o {name}, which names {named[0]}; leave one out")
    form = wanted or named[0]
    if compression and FORMS[form].typed:
        raise UsageError(
            f"cannot write {name}: {form} is not compressed as a whole; name it without {path.suffix}"
        )
    return RowFile(form, compression)


def folder_of_rows(wanted: str | None, name: str) -> RowFile:
    """The form of a folder of this name, which is Parquet.

    Raises
    ------
    UsageError
        If another one was asked for.
    """
    if wanted not in (None, "parquet"):
        raise UsageError(
            f"--format {wanted} cannot apply to -o {name}, a folder: its parts are parquet; name a file"
        )
    return RowFile("parquet", parts=True)


def _unknown(name: str, ending: str) -> str:
    text, typed = (_endings([each for each in FORMS.values() if each.typed is of]) for of in (False, True))
    line = f"cannot tell the form of {name}: the endings are {text}, also with {' '.join(COMPRESSIONS)}, and "
    line += f"{typed}; or name the form with --format"
    return f"{line}; cepctl report writes pages" if ending in (".html", ".htm") else line


def _endings(forms: Sequence[RowForm]) -> str:
    return " ".join(dict.fromkeys(ending for each in forms for ending in each.endings))
