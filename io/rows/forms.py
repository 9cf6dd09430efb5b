"""The forms that rows of matches are written in, and how the name of a file tells them.

    form      endings of names          compressed by a further ending
    csv       .csv                      yes
    tsv       .tsv                      yes
    json      .json (one array)         yes
    jsonl     .jsonl .ndjson            yes
    md        .md (a table of Markdown) yes
    parquet   .parquet                  in itself
    arrow     .arrow .feather           no: the file format of Arrow, to be mapped into memory
    trace     .json                     yes

A table, which is for people, has no ending.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from cepctl.errors import UsageError

ROW_FORMS = ("table", "csv", "tsv", "json", "jsonl", "md", "parquet", "arrow", "trace")
FILE_FORMS = ("csv", "tsv", "json", "jsonl", "md", "parquet", "arrow")
"""Forms that are written row by row."""
DELIMITED_FORMS = ("csv", "tsv")
"""Forms that spreadsheets open."""
FLAT_FORMS = ("table", *DELIMITED_FORMS, "md")
"""Forms that hold no nested lists."""
TYPED_FORMS = ("parquet", "arrow")
"""Forms that have timestamps, which are text in the others."""
ROWS_OF_GROUP = 1 << 20
"""Those of a row group of Parquet; what Arrow takes, too."""
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4"}
_ENDINGS = {
    ".csv": ("csv",),
    ".tsv": ("tsv",),
    ".json": ("json", "trace"),
    ".jsonl": ("jsonl",),
    ".ndjson": ("jsonl",),
    ".md": ("md",),
    ".parquet": ("parquet",),
    ".arrow": ("arrow",),
    ".feather": ("arrow",),
}
_OF_OTHERS = (".html", ".htm", ".xlsx", ".xls", ".ods", ".xml", ".avro", ".orc")


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
    told = _ENDINGS.get(ending, ())
    if not told and (wanted is None or ending in _OF_OTHERS):
        raise UsageError(_unknown(name, ending))
    if told and wanted is not None and wanted not in told:
        raise UsageError(f"--format {wanted} disagrees with -o {name}, which names {told[0]}; leave one out")
    form = wanted or told[0]
    if compression and form in TYPED_FORMS:
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
    known = " ".join(_ENDINGS)
    line = f"cannot tell the form of {name}: the endings are {known}"
    line += f", all but the last three also with {' '.join(COMPRESSIONS)}; or name the form with --format"
    return f"{line}; cepctl report writes pages" if ending in (".html", ".htm") else line
