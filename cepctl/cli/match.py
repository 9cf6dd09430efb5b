"""`cepctl match`: run a query and print its probable matches."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from cepctl.cli.ingest import ingest_options, report_reading
from cepctl.cli.options import Conf, raw_input_options, runner_options, verbosity_options
from cepctl.cli.query_text import query_argument, read_query
from cepctl.errors import JobError, UsageError
from cepctl.plan.evaluation_order import ORDERS, OrderName
from cepctl.plan.support import Engine

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.dataset import EventInputs
    from cepctl.plan.plan import Plan

MATCHES_FOUND = 1


@click.command("match")
@query_argument("EVENTS...")
@click.option(
    "--engine",
    type=click.Choice(["event", "worlds"]),
    default="event",
    show_default=True,
    help="worlds enumerates every possible world, for small inputs.",
)
@click.option(
    "--order",
    type=click.Choice(ORDERS),
    default="auto",
    show_default=True,
    help="In which order components are bound; changes no row.",
)
@click.option(
    "--min-confidence",
    type=click.FloatRange(0.0, 1.0),
    metavar="C",
    help="Keep matches with at least this confidence; with CONFIDENCE in the query the larger holds.",
)
@click.option("--top-k", type=click.IntRange(min=1), metavar="K", help="Keep the K most probable matches.")
@click.option(
    "--max-matches",
    type=click.IntRange(min=1),
    default=10_000_000,
    show_default=True,
    metavar="N",
    help="Stop when there are more matches than this.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "csv", "jsonl", "parquet"]),
    help="Form of the rows.  [default: told by FILE's name; table on a terminal, else csv]",
)
@click.option("-o", "--output", metavar="FILE", help="Write the rows to FILE, whole or not at all.")
@click.option(
    "--time",
    "times",
    type=click.Choice(["iso", "ticks"]),
    default="iso",
    show_default=True,
    help="How start and end are written.",
)
@click.option("--since", metavar="TIME", help="Keep matches that start at TIME (ISO 8601) or later.")
@click.option("--until", metavar="TIME", help="Keep matches that start at TIME (ISO 8601) or earlier.")
@click.option("--fail-on-match", is_flag=True, help="Exit with 1 when there are matches.")
@raw_input_options("--input-format")
@runner_options
@verbosity_options
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    engine: Engine,
    order: OrderName,
    min_confidence: float | None,
    top_k: int | None,
    max_matches: int,
    output_format: str | None,
    output: str | None,
    times: str,
    since: str | None,
    until: str | None,
    fail_on_match: bool,
    input_format: str | None,
    uncertainty: str | None,
    tz: str | None,
    renames: Conf,
    drop_domain: bool,
    runner: str,
    master: str,
    conf: Conf,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run QUERY on EVENTS: datasets, plain event files (CSV, JSONL, Parquet) or raw logs.

    QUERY is the text itself, or @FILE.  Every row is one combination of events that could have
    happened, with the time it may have taken and how probable it is.
    """
    from cepctl.dataset import open_events
    from cepctl.engines.alternative import MatchOptions
    from cepctl.io.match_rows import TimeFormat, presented
    from cepctl.language.parser import parse
    from cepctl.plan import analyze
    from cepctl.plan.support import require_engine

    began = time.monotonic()
    text, events = read_query(arguments, query_file)
    query = parse(text)
    form = _form(output_format, output)
    if not events:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")
    options = ingest_options(
        input_format=input_format, uncertainty=uncertainty, tz=tz, renames=renames, drop_domain=drop_domain
    )
    with open_events(events, options) as inputs:
        if inputs.summary is not None:
            report_reading(inputs.summary, quiet=quiet)
        plan = analyze(query, inputs.schema)
        if min_confidence is not None:
            plan = replace(plan, minimum_confidence=max(min_confidence, plan.minimum_confidence or 0.0))
        _say(plan, quiet=quiet)
        require_engine(plan, engine)
        wanted = MatchOptions(order, inputs.schema.type_counts, max_matches)
        if engine == "worlds":
            matches = _run_worlds(plan, inputs)
        elif runner == "spark":
            matches = _run_spark(plan, inputs, wanted, master, conf, verbose=verbose)
        else:
            matches = _run_local(plan, inputs, wanted)
    found = matches.num_rows
    matches = _between(matches, plan, since, until)
    matches = matches if top_k is None else matches.slice(0, top_k)
    rows = presented(matches, plan.time_unit, cast(TimeFormat, times), typed=form == "parquet")
    if not quiet:
        total = sum((inputs.schema.type_counts or {}).values())
        click.echo(_summary(found, matches.num_rows, total, time.monotonic() - began), err=True)
    _write(rows, form, output, quiet=quiet)
    return MATCHES_FOUND if fail_on_match and matches.num_rows else 0


def _form(wanted: str | None, output: str | None) -> str:
    """The form of the rows; also looks whether `output` can be written, before any work is done."""
    if output is None:
        return wanted or ("table" if sys.stdout.isatty() else "csv")
    path = Path(output)
    if path.is_dir():
        raise UsageError(f"cannot write {output}: it is a directory")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"cannot write {output}: there is no directory {path.parent}")
    return wanted or {".jsonl": "jsonl", ".parquet": "parquet"}.get(path.suffix.lower(), "csv")


def _summary(found: int, kept: int, events: int, seconds: float) -> str:
    from cepctl.render.counting import counted

    shown = "" if kept == found else f", {kept:,} of them written"
    return f"{counted(found, 'match', 'matches')} in {counted(events, 'event')}{shown}, {seconds:.1f} s"


def _say(plan: Plan, *, quiet: bool) -> None:
    if quiet:
        return
    for warning in plan.warnings:
        click.echo(f"warning: {warning}", err=True)
    if plan.never is not None:
        click.echo(f"note: the query can never match: {plan.never}", err=True)


def _run_local(plan: Plan, inputs: EventInputs, wanted: object) -> pa.Table:
    from cepctl.engines import local
    from cepctl.engines.alternative import MatchOptions

    assert isinstance(wanted, MatchOptions)
    return local.run(plan, inputs.read(plan.attributes, _types_read(plan)), wanted)


def _run_worlds(plan: Plan, inputs: EventInputs) -> pa.Table:
    from cepctl.engines.results import ordered
    from cepctl.engines.worlds import match_table

    return ordered(match_table(plan, inputs.read(plan.attributes, _types_read(plan))))


def _run_spark(
    plan: Plan, inputs: EventInputs, wanted: object, master: str, conf: Conf, *, verbose: bool
) -> pa.Table:
    from cepctl.engines import spark
    from cepctl.engines.alternative import MatchOptions
    from cepctl.session import spark_session

    assert isinstance(wanted, MatchOptions)
    sources = [spark.Source(*parts) for parts in inputs.spark_parts(plan.attributes)]
    with spark_session(master, conf, verbose=verbose) as session:
        return spark.run(plan, sources, session, wanted)


def _types_read(plan: Plan) -> set[str] | None:
    """Event types that can matter to a plan; None for all."""
    from cepctl.language.ast import Strategy

    components = [each for alternative in plan.alternatives for each in alternative.components]
    contiguous = plan.strategy in (Strategy.STRICT_CONTIGUITY, Strategy.PARTITION_CONTIGUITY)
    if contiguous or not all(component.event_types for component in components):
        return None
    return {name for component in components for name in component.event_types}


def _between(matches: pa.Table, plan: Plan, since: str | None, until: str | None) -> pa.Table:
    """Keep the matches whose `start` lies between two instants, both included."""
    import pyarrow.compute as pc

    from cepctl.io.times import parse_time

    for text, option, compare, rounding in (
        (since, "--since", pc.greater_equal, plan.time_unit.microseconds - 1),
        (until, "--until", pc.less_equal, 0),
    ):
        if text is None:
            continue
        instant = parse_time(text, None)
        if instant is None:
            raise UsageError(f"{option}: '{text}' is no ISO 8601 time, such as 2026-03-03T09:00:00Z")
        # A tick that begins before `since` is not later than it.
        tick = (instant.micros + rounding) // plan.time_unit.microseconds
        matches = matches.filter(compare(matches.column("start"), tick))
    return matches


def _write(rows: pa.Table, form: str, output: str | None, *, quiet: bool) -> None:
    """Write rows to standard output, or to a file that appears whole."""
    from cepctl.io.match_rows import RowFormat, encoded_rows

    if form == "table" and output is None:
        from cepctl.render.matches import print_matches

        print_matches(rows)
        return
    if form == "table":
        pieces: Iterable[bytes] = [_table_text(rows).encode()]
    else:
        header = not (quiet and rows.num_rows == 0)
        pieces = encoded_rows(rows, cast(RowFormat, form), header=header)
    if output is not None:
        _write_whole(output, pieces)
        return
    for piece in pieces:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _table_text(rows: pa.Table) -> str:
    from cepctl.render.matches import print_matches

    held = io.StringIO()
    print_matches(rows, held)
    return held.getvalue()


def _write_whole(output: str, pieces: Iterable[bytes]) -> None:
    path = Path(output)
    aside: str | None = None
    try:
        handle, aside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
        with os.fdopen(handle, "wb") as stream:
            for piece in pieces:
                stream.write(piece)
        mask = os.umask(0)
        os.umask(mask)
        Path(aside).chmod(0o666 & ~mask)
        Path(aside).replace(path)
    except BaseException as problem:
        if aside is not None:
            Path(aside).unlink(missing_ok=True)
        if isinstance(problem, OSError):
            raise JobError(f"cannot write {output}: {problem.strerror}") from None
        raise
