"""`cepctl probe`: where a pattern can occur, derived from sketches alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from cepctl.cli.match.request import RowChoice, row_options
from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.query_text import query_argument, query_file_of, read_query
from cepctl.cli.options.shared import json_option, verbosity_options
from cepctl.cli.output.answers import answer_around
from cepctl.cli.output.notices import say
from cepctl.cli.output.rows import row_target, write_pieces, write_rows
from cepctl.errors import UsageError
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.probe import PROBE_COLUMNS, Probe, probed
from cepctl.library.raw_input import RawInput
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.io.rows.encoding import TimeFormat


@click.command("probe", cls=CheckedCommand)
@query_argument("SOURCE...")
@row_options
@json_option
@verbosity_options
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    rows: RowChoice,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Tell where QUERY can have matches in SOURCE: datasets with sketches, sketches, or states.

    Every match lies completely in one of the rows, however improbable it is; a row may hold no match.
    `at_most` bounds the matches of a row, `about` is their expected number if times were random.  QUERY
    is the text itself, or @FILE.
    """
    from cepctl.io.rows.columns import require_columns
    from cepctl.io.rows.encoding import encoded_rows
    from cepctl.io.rows.shown import PresentedRows
    from cepctl.language.parser import parse

    text, paths = read_query(arguments, query_file)
    rows.refuse_unwritable()
    target = row_target("json" if as_json else rows.form, rows.output)
    if target.parts:
        raise UsageError(f"-o {rows.output} names a folder, and a probe has few rows; name a file")
    if target.form == "trace":
        raise UsageError("--format trace draws matches, and a probe has none; choose another form")
    rows.require_writable(target.form)
    guarded = rows.guarded(target.form)
    require_columns(rows.chosen, PROBE_COLUMNS)
    if not paths:
        raise UsageError("SOURCE is missing: name a dataset or a sketch after the query")
    written = {"-o": rows.output}
    refuse_overwriting(written, paths, RawInput(), query_file_of(arguments, query_file))
    found = probed(parse(text), paths)
    if not quiet:
        say("note", _probe_text(found))
    times = cast("TimeFormat", rows.times)
    shown = PresentedRows(found.plan.time_unit, times, target.form, rows.chosen, guarded)
    if as_json:
        pieces = encoded_rows(iter([found.rows]), "json", shown)
        write_pieces(answer_around("probe", pieces, {"query": text}), None)
        return
    write_rows(iter([found.rows]), shown, target, rows.output, quiet=quiet, chosen=bool(rows.chosen))


def _probe_text(found: Probe) -> str:
    if not len(found):
        return "no match anywhere"
    return f"matches can be in {counted(len(found), 'stretch', 'stretches')} of time, and nowhere else"
