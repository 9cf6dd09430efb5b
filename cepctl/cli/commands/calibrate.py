"""`cepctl calibrate`: are stated probabilities right?  True times are hidden, and the answers compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cepctl.cli.options.help_groups import GroupedCommand
from cepctl.cli.options.hidden_times import HiddenTimes
from cepctl.cli.options.laws import law_file
from cepctl.cli.options.query_text import is_query_text, query_argument, query_file_of, read_query
from cepctl.cli.options.reading import raw_input_options
from cepctl.cli.options.shared import in_one, json_option, memory_option, no_given_option, verbosity_options
from cepctl.cli.output.answers import print_answer
from cepctl.cli.output.notices import say
from cepctl.cli.output.rows import refuse_unwritable, write_pieces
from cepctl.errors import JobError, UsageError
from cepctl.library.calibrate import CASE, calibrated
from cepctl.library.laws import LawFile
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput
from cepctl.library.true_events import TYPE
from cepctl.process.memory import MemoryBudget

if TYPE_CHECKING:
    from cepctl.calibration.result import Calibration

_PAGES = (".html", ".htm")


@dataclass(frozen=True)
class _CalibrationOutput:
    """What is written and said of a calibration."""

    types: bool
    blurred: str | None
    form: str
    output: str | None
    as_json: bool
    quiet: bool
    verbose: bool

    @property
    def is_page(self) -> bool:
        """Whether it is written as a page for a browser."""
        return self.output is not None and Path(self.output).suffix.lower() in _PAGES

    def refuse_other_page(self) -> None:
        """Raise UsageError where a page is to be JSON."""
        if self.is_page and (self.as_json or self.form == "json"):
            raise UsageError(f"{self.output} is a page for a browser; leave out JSON, or name another file")

    def write(self, found: Calibration) -> None:
        """Write it in the form that is asked for."""
        from cepctl.render.calibration import calibration_facts, calibration_json, calibration_text

        if self.is_page:
            from cepctl.render.pictures.calibration import calibration_page

            write_pieces([calibration_page(found).encode()], self.output)
        elif self.as_json:
            print_answer("calibrate", calibration_facts(found))
        else:
            in_json = self.form == "json"
            text = calibration_json(found) if in_json else calibration_text(found, types=self.types)
            write_pieces([text.encode()], self.output)


@click.command("calibrate", cls=GroupedCommand)
@query_argument("EVENTS...")
@click.option(
    "--pairs",
    is_flag=True,
    help="Instead of a QUERY, ask of any two events of one --by and different steps which is first.",
)
@click.option("--coarsen", metavar="D", help="Hide times: tell only the unit of length D, such as '1 day'.")
@click.option("--jitter", metavar="D", help="Hide times: let each err by up to D either way, such as '60 s'.")
@click.option(
    "--clock",
    metavar="CLOCK",
    help="Hide times: let each clock err by up to D either way, such as 'by=node 500 ms'.",
)
@click.option("--model", type=click.Path(), metavar="FILE", help="Hide times by an uncertainty model (TOML).")
@click.option(
    "--by",
    metavar="ATTR",
    help=f"Attribute that names the key of an event; rows of one key may err together.  [--pairs: {CASE}]",
)
@click.option(
    "--step",
    metavar="ATTRS",
    default=TYPE,
    show_default=True,
    help="Attributes, separated by commas, that name the step of an event.",
)
@click.option("--part", metavar="I/K", help="Take only the keys whose place, from 0 on, is I modulo K.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of what is drawn.")
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="R",
    help="Take R seeds, from --seed on, and pool their rows.",
)
@click.option(
    "--types",
    is_flag=True,
    help="In the table, also tell of each type of rows, by the steps of their events; JSON always does.",
)
@click.option(
    "--blurred", type=click.Path(), metavar="DIR", help="Write the events with hidden times to a dataset."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="A table for people, JSON for programs.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="FILE",
    help="Write to FILE, whole or not at all; a page for a browser if its name ends with .html.",
)
@json_option
@no_given_option
@click.option(
    "--laws",
    callback=law_file,
    type=click.Path(),
    metavar="FILE",
    help="Weigh the orders of events by the laws ([[law]]) of a model file, and compare; those that EVENTS "
    "or --model state are not asked.",
)
@raw_input_options("--input-format")
@memory_option
@verbosity_options
@in_one("truth", HiddenTimes)
@in_one("answer", _CalibrationOutput)
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    pairs: bool,
    truth: HiddenTimes,
    answer: _CalibrationOutput,
    repeat: int,
    laws: LawFile | None,
    raw_input: RawInput,
    memory: MemoryBudget,
) -> int | None:
    """Tell whether stated probabilities are right, on EVENTS whose logged times are known to be true.

    The times are hidden by one of --coarsen, --jitter, --clock and --model.  QUERY is run on what is left of
    them, and each probability is held to whether the row happened at the true times: of rows that are stated
    with 70 %, 70 % should happen.  QUERY is the text itself, or @FILE.

    The exit code is 4 if a row came out that cannot: one stated as certain, or one that was not stated.
    """
    from cepctl.render.calibration import calibration_summary, impossible_text

    text, events = _asked(arguments, query_file, pairs=pairs)
    answer.refuse_other_page()
    if answer.output is not None:
        refuse_unwritable(answer.output)
    outputs = {"-o": answer.output, "--blurred": answer.blurred}
    file = query_file_of(arguments, query_file)
    refuse_overwriting(outputs, events, raw_input, file, laws=laws, replaced="--blurred")
    asked = replace(truth.asked(), text=text, repeat=repeat, blurred=answer.blurred, laws=laws)
    found = calibrated(events, asked, raw_input, memory)
    answer.write(found)
    if not answer.quiet:
        say("summary", calibration_summary(found))
    if found.impossible_happened:
        say("error", impossible_text(found))
        return JobError.exit_code
    return None


def _asked(
    arguments: tuple[str, ...], query_file: str | None, *, pairs: bool
) -> tuple[str | None, tuple[str, ...]]:
    """The text of the query, None for pairs, and the PATHs of the events."""
    if not pairs:
        text, events = read_query(arguments, query_file)
    elif query_file is None and not (arguments and is_query_text(arguments[0])):
        text, events = None, arguments
    else:
        raise UsageError("--pairs asks without a query; leave out the query, or --pairs")
    if not events:
        before = "--pairs" if pairs else "the query"
        raise UsageError(f"EVENTS is missing: name a dataset, an event file or a log after {before}")
    return text, events
