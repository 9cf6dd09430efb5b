"""Where rows go and in which form: standard output, or a file that appears whole."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from cepctl.atomic.files import write_whole_file
from cepctl.errors import JobError, UsageError
from cepctl.io.rows.folder_names import is_row_folder
from cepctl.io.rows.forms import RowFile, folder_of_rows, row_file
from cepctl.notices import QUERY, tell

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.io.rows.encoding import Block
    from cepctl.io.rows.forms import Encoded


def row_target(wanted: str | None, output: str | None) -> RowFile:
    """The form of the rows; also looks whether `output` can be written, before any work is done."""
    if output is None:
        return RowFile(wanted or ("table" if sys.stdout.isatty() else "csv"))
    refuse_unwritable(output)
    path = Path(output)
    if names_folder(output):
        return folder_of_rows(wanted, output)
    if path.exists() and not path.is_file():  # a device or a pipe, whose name says nothing
        return RowFile(wanted or "csv")
    return row_file(wanted, output)


def names_folder(output: str) -> bool:
    """Whether rows are to be a folder of parts: its name ends with a slash, or there is one of ours."""
    return output.endswith("/") or is_row_folder(Path(output))


def refuse_unwritable(output: str, *, no_clobber: bool = False) -> None:
    """Raise UsageError before any work is done, where a file cannot be written, or is there and must stay."""
    path = Path(output)
    if no_clobber and path.is_file():
        raise UsageError(f"{output} exists, and --no-clobber keeps it; name another file")
    if path.is_dir() and not names_folder(output):
        raise UsageError(f"cannot write {output}: it is a directory")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"cannot write {output}: there is no directory {path.parent}")


def refuse_other_page(output: str) -> None:
    """Raise UsageError where the name promises something else than HTML, which is all that a page can be."""
    suffix = Path(output).suffix.lower()
    if suffix not in {"", ".html", ".htm"}:
        name = Path(output).with_suffix(".html")
        raise UsageError(
            f"a page is HTML, not {suffix.removeprefix('.')}; name it {name}, and print that from a browser"
        )


def write_rows(
    blocks: Iterable[Block],
    shown: Callable[[pa.Table], pa.Table],
    file: RowFile,
    output: str | None,
    *,
    quiet: bool,
    chosen: bool = False,
    header: bool = True,
) -> None:
    """Write blocks of rows, each as `shown`, to standard output, or to a file that appears whole.

    `chosen`: the user has named the columns.  Without `header` CSV has none.
    """
    from cepctl.io.rows.encoding import encoded_rows

    if file.form == "table":
        rows = shown(_whole(blocks))
        if output is None:
            from cepctl.render.matches import print_matches

            print_matches(rows, chosen=chosen)
            return
        pieces: Iterable[Encoded] = [_table_text(rows).encode()]
    else:
        pieces = encoded_rows(
            blocks,
            file.form,
            shown,
            empty_header=not quiet or output is not None,
            header=header,
        )
    write_pieces(pieces, output, file.compression)


def _whole(blocks: Iterable[Block]) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables(block if isinstance(block, pa.Table) else block() for block in blocks)


def write_pieces(pieces: Iterable[Encoded], output: str | None, compression: str | None = None) -> None:
    """Write bytes to standard output, or to a file that appears whole; compressed, if they are to be."""
    if compression is not None:
        from cepctl.io.rows.encoding import compressed

        pieces = compressed(pieces, compression)
    if output is not None:
        tell_replaced(output)
        write_whole(output, pieces)
        return
    for piece in pieces:
        sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()  # The next piece may take long to find.
    sys.stdout.buffer.flush()


def tell_replaced(output: str) -> None:
    """Say that a file is there, and will not be what it was."""
    if Path(output).is_file():
        tell(QUERY, "note", f"{output} existed and is replaced; --no-clobber keeps such files")


def _table_text(rows: pa.Table) -> str:
    from cepctl.render.matches import print_matches

    held = io.StringIO()
    print_matches(rows, held)
    return held.getvalue()


def write_whole(output: str, pieces: Iterable[Encoded]) -> None:
    """Write a file that appears whole or not at all; raises JobError when it cannot be written."""
    try:
        write_whole_file(Path(output), pieces)
    except OSError as problem:
        raise JobError(f"cannot write {output}: {problem.strerror}") from None
