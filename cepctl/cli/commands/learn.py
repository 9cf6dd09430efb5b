"""`cepctl learn`: in which order events of a key usually happen, from events whose times are known."""

from __future__ import annotations

from dataclasses import replace

import click

from cepctl.cli.options.help_groups import GroupedCommand
from cepctl.cli.options.hidden_times import HiddenTimes
from cepctl.cli.options.reading import raw_input_options
from cepctl.cli.options.shared import in_one, memory_option, no_given_option, verbosity_options
from cepctl.cli.output.notices import say
from cepctl.cli.output.rows import refuse_unwritable, write_pieces
from cepctl.errors import UnsupportedQueryError
from cepctl.library.learn import MOST_KEYS, NO_CLOCKS, learned_from
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput
from cepctl.library.true_events import TYPE
from cepctl.process.memory import MemoryBudget


@click.command("learn", cls=GroupedCommand)
@click.argument("events", nargs=-1, required=True, type=click.Path(), metavar="EVENTS...")
@click.option("--by", metavar="ATTR", required=True, help="Attribute that names the key of an event.")
@click.option(
    "--step",
    metavar="ATTRS",
    default=TYPE,
    show_default=True,
    help="Attributes, separated by commas, that name the step of an event.",
)
@click.option("--coarsen", metavar="D", help="Hide times: tell only the unit of length D, such as '1 day'.")
@click.option("--jitter", metavar="D", help="Hide times: let each err by up to D either way, such as '60 s'.")
@click.option("--clock", metavar="TEXT", help="Refused: events of one clock err together; see --jitter.")
@click.option("--model", type=click.Path(), metavar="FILE", help="Hide times by an uncertainty model (TOML).")
@click.option("--part", metavar="I/K", help="Take only the keys whose place, from 0 on, is I modulo K.")
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Seed of what is drawn, of which keys are taken, and of the folds that test the law.",
)
@click.option(
    "--max-keys",
    type=click.IntRange(min=1),
    default=MOST_KEYS,
    show_default=True,
    metavar="N",
    help="Learn from so many keys at most.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="FILE",
    required=True,
    help="Model file (TOML) to write the law to, whole or not at all.",
)
@no_given_option
@raw_input_options("--input-format")
@memory_option
@verbosity_options
@in_one("truth", HiddenTimes)
def command(
    events: tuple[str, ...],
    truth: HiddenTimes,
    max_keys: int,
    output: str,
    raw_input: RawInput,
    memory: MemoryBudget,
    quiet: bool,
    verbose: bool,
) -> None:
    """Learn in which order events of one key usually happen, from EVENTS whose logged times are true.

    The times are hidden by one of --coarsen, --jitter and --model.  A law of order says by which factors
    orders are more probable than the times alone tell: of a step right after another, and of one anywhere
    before another.  Learned is the law that makes the true orders most probable.

    It is tested on keys that it was not learned from.  If it does not tell their orders better than no law,
    by two standard errors, nothing is written and the exit code is 2.
    """
    from cepctl.render.learned import learned_summary

    if truth.clock is not None:
        raise UnsupportedQueryError(f"{NO_CLOCKS}; take --jitter with as much as the clocks err")
    refuse_unwritable(output)
    refuse_overwriting({"-o": output}, events, raw_input)
    asked = replace(truth.asked(), command="learn")
    found = learned_from(events, asked, max_keys, raw_input, memory)
    write_pieces([found.text.encode()], output)
    if not quiet:
        say("summary", learned_summary(found, output))
