"""`cepctl clocks`: what daemons log of the error of clocks -> a table of pieces with hard bounds.

With `--reference` the table is made of orders that are known of events, with `--check` it is held to them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from cepctl.cli.options.exclusions import asked_for, refuse_or_leave_out
from cepctl.cli.options.shared import in_one, verbosity_options
from cepctl.cli.output.notices import say
from cepctl.cli.output.rows import row_target, write_pieces
from cepctl.errors import JobError, UsageError
from cepctl.library.clock_check import CheckOptions, checked_clocks
from cepctl.library.clock_hulls import FoundHulls, HullOptions, clock_hulls
from cepctl.library.clocks import ClockOptions, OpenClocks, opened_clocks
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput
from cepctl.render.counting import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.io.rows.forms import RowFile

_FORMS = ("parquet", "csv")
_ROWS_OF_GROUP = 1 << 17


_OF_LOGS = ("host", "map", "bound", "hold")
_OF_EVENTS = ("given", "by", "granularity")
_OF_HULLS = ("reference", "window")
_OF_TABLES = ("output", "drift")


class _ClocksCommand(click.Command):
    """The command, whose options are for logs, for events that make a table, or for a check."""

    def invoke(self, ctx: click.Context) -> Any:
        for why, names in _cannot_apply(
            checks=ctx.params["check"], makes=ctx.params["reference"] is not None
        ):
            for name in asked_for(ctx, names):
                refuse_or_leave_out(ctx, name, why)
        return super().invoke(ctx)


def _cannot_apply(*, checks: bool, makes: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The options that cannot apply, and why."""
    if checks:
        yield "with --check", (*_OF_LOGS, *_OF_TABLES, *_OF_HULLS)
        return
    yield "without --check", ("format",)
    if makes:
        yield "with --reference", _OF_LOGS
    else:
        yield "without --reference", ("window",)
        yield "without --check or --reference", _OF_EVENTS


@dataclass(frozen=True)
class _Logged:
    """How logs of clocks are read."""

    hosts: tuple[str, ...]
    mapped: tuple[str, ...]
    bound: str | None
    drift: str | None
    hold: str
    tz: str | None

    @property
    def options(self) -> ClockOptions:
        """What the library is asked for."""
        drift = ClockOptions.drift if self.drift is None else self.drift
        return ClockOptions(self.hosts, self.mapped, self.bound, drift, self.hold, self.tz)


@dataclass(frozen=True)
class _Orders:
    """Which orders of events are known, and what they are to say of clocks."""

    reference: str | None
    window: str
    given: tuple[str, ...]
    by: str
    granularity: str

    def hulls(self, reference: str, logged: _Logged) -> HullOptions:
        """What is asked of the clocks against one."""
        drift = HullOptions.drift if logged.drift is None else logged.drift
        return HullOptions(reference, self.given, self.by, self.window, drift, self.granularity, logged.tz)


@click.command("clocks", cls=_ClocksCommand)
@click.argument("logs", nargs=-1, required=True, type=click.Path(), metavar="LOG...")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="CLOCKS",
    help="Table to write: Parquet, or CSV by its name, such as clocks.csv.",
)
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="PATTERN",
    help="Where paths of logs have the host, for those whose content has none, such as "
    "'*/{host}/tracking.log*'.  May be given several times.",
)
@click.option(
    "--map",
    "mapped",
    multiple=True,
    metavar="FILE=HOST",
    help="The host of one log whose content has none.  May be given several times.",
)
@click.option(
    "--bound",
    metavar="DURATION",
    help="How far an estimate can be off where no log of the host says it, such as '10 ms'.",
)
@click.option(
    "--drift",
    metavar="PPM",
    help="By how much a clock can gain or lose between what is known of it.  "
    f"[default: {ClockOptions.drift}; with --reference {HullOptions.drift} against another]",
)
@click.option(
    "--hold",
    default=ClockOptions.hold,
    show_default=True,
    metavar="DURATION",
    help="How long an estimate holds before the first and after the last row of a host.",
)
@click.option(
    "--tz",
    metavar="ZONE",
    help="Zone of times of syslog that have none, such as Europe/Berlin.  [default: UTC]",
)
@click.option(
    "--reference",
    metavar="HOST",
    help="Instead of logs take EVENTS..., and bound how far the clocks of their hosts are ahead of that of "
    "HOST, from the orders known of EVENTS; '' is the clock of events without a host.",
)
@click.option(
    "--window",
    default=HullOptions.window,
    show_default=True,
    metavar="DURATION",
    help="With --reference: for how long clocks keep their drift, about.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Instead of logs take EVENTS... CLOCKS, and print the orders known of EVENTS that CLOCKS excludes.",
)
@click.option(
    "--given",
    multiple=True,
    metavar="CLAUSE",
    help="With --check, --reference: an order beside those of the dataset ([[given]] in its model), such as "
    "'SEQ(Send a, Receive b) IF a.id = b.id'.  May be given several times.",
)
@click.option(
    "--by",
    default=CheckOptions.by,
    show_default=True,
    metavar="ATTR",
    help="With --check, --reference: the attribute that names the host of an event.",
)
@click.option(
    "--granularity",
    default=CheckOptions.granularity,
    show_default=True,
    metavar="DURATION",
    help="With --check, --reference: for how long after its reading a stamp stands, '1 s' where logs have "
    "whole seconds.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="With --check: a table for people, JSON for programs.",
)
@verbosity_options
@in_one("logged", _Logged)
@in_one("orders", _Orders)
def command(
    logs: tuple[str, ...],
    output: str | None,
    logged: _Logged,
    orders: _Orders,
    check: bool,
    output_format: str,
    quiet: bool,
    verbose: bool,
) -> int | None:
    """Turn what daemons log of the error of clocks into one table: when, by how much, how surely.

    LOG is a file, a directory, a glob or - (standard input): chrony's tracking.log, measurements.log and
    statistics.log, ntpd's loopstats and peerstats, syslog of ptp4l, phc2sys and ts2phc, an answer of
    Prometheus with metrics of node_timex, or a CSV host,time,ahead,bound[,sd].  The content tells which; all
    may be compressed.

    CLOCKS has one row for each piece of a host's readings: by how much its clock was ahead, as an estimate,
    and hard bounds for what it really was ahead beyond that, in nanoseconds.

    With --reference the arguments are events.  Each pair that is known to be ordered bounds the difference of
    two clocks, and lines that keep to all of them bound each clock against that of HOST, over chains of
    hosts.

    With --check the last argument is CLOCKS, and those before it are events.  The exit code is 4 if CLOCKS
    excludes an order that is known: the bounds of two clocks leave no way in which the event that comes first
    was written first.
    """
    if check:
        asked = CheckOptions(orders.given, orders.by, orders.granularity, logged.tz)
        return _check(logs, asked, output_format, quiet=quiet)
    if output is None:
        raise UsageError("-o CLOCKS is missing: name the table to write, such as -o clocks.parquet")
    file = row_target(None, output)
    if file.form not in _FORMS or file.parts:
        raise UsageError(
            f"-o {output}: CLOCKS is a file of Parquet or CSV; name it clocks.parquet or clocks.csv"
        )
    refuse_overwriting({"-o": output}, logs, RawInput())
    if orders.reference is not None:
        found = clock_hulls(logs, orders.hulls(orders.reference, logged))
        _write(found.tables(), output, file)
        if not quiet:
            _tell_hulls(found, output)
        return None
    with opened_clocks(logs, logged.options) as clocks:
        _write(clocks.tables(), output, file)
        _tell(clocks, output, quiet=quiet)
    return None


def _write(tables: Iterator[pa.Table], output: str, file: RowFile) -> None:
    from cepctl.io.rows.encoding import encoded_rows

    rows = encoded_rows(tables, file.form, threads=1, rows_of_group=_ROWS_OF_GROUP)
    write_pieces(rows, output, file.compression)


def _check(words: tuple[str, ...], options: CheckOptions, output_format: str, *, quiet: bool) -> int | None:
    """Print what CLOCKS, the last of the words, excludes of the others."""
    if len(words) < 2:
        raise UsageError("--check takes EVENTS and CLOCKS: cepctl clocks --check EVENTS... CLOCKS")
    from cepctl.render.clock_check import check_summary, print_check, write_check

    found = checked_clocks(words[:-1], words[-1], options)
    if output_format == "json":
        write_check(found, sys.stdout)
    else:
        print_check(found, sys.stdout)
    if not quiet:
        say("summary", check_summary(found), excluded=found.excluded.height)
    return JobError.exit_code if found.excluded.height else None


def _tell(clocks: OpenClocks, output: str, *, quiet: bool) -> None:
    """Say what was found of each host, and what could not be used."""
    from cepctl.render.clocks import host_line, note_lines, problem_lines, steps_without_rows

    for left_out in clocks.found.left_out:
        say("warning", f"left out {left_out.cause}", file=left_out.file)
    for log in clocks.found.read:
        for line in problem_lines(log):
            say("warning", line, file=log.file)
    for line in steps_without_rows(clocks.found):
        say("warning", line)
    if quiet:
        return
    for log in clocks.found.read:
        for line in note_lines(log):
            say("note", line, file=log.file)
    for summary in clocks.summaries:
        say("summary", host_line(summary), **asdict(summary))
    pieces = sum(summary.pieces for summary in clocks.summaries)
    say(
        "summary",
        f"{counted(pieces, 'piece')} of {counted(len(clocks.summaries), 'host')} in {output}",
        pieces=pieces,
    )


def _tell_hulls(hulls: FoundHulls, output: str) -> None:
    """Say what was found of each host."""
    from cepctl.render.clock_hulls import hull_line, pairs_line

    reference = hulls.found.hosts[hulls.found.reference]
    for summary in hulls.summaries:
        say("summary", hull_line(summary, reference), **asdict(summary))
    pieces = sum(summary.pieces for summary in hulls.summaries)
    line = f"{pairs_line(hulls.found)}; {counted(pieces, 'piece')} in {output}"
    say("summary", line, pairs=hulls.found.pairs, halved=hulls.found.halved, pieces=pieces)
