"""Options of the commands that run a query: by which engine, and which of its matches are kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from cepctl.cli.options.help_groups import HelpGroup, grouped_option
from cepctl.cli.options.laws import LAW_OPTIONS
from cepctl.cli.options.shared import gathered, memory_option, no_given_option, with_options
from cepctl.library.laws import LawChoice
from cepctl.library.selection import Matching, nanoseconds, nanoseconds_now
from cepctl.numeric.exact_numbers import exact_number
from cepctl.plan.evaluation_order import ORDERS


class ProbabilityType(click.FloatRange):
    """A number between two bounds, which may be written as a percentage."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number as a float; anything else is refused as FloatRange refuses it."""
        if isinstance(value, str) and value.endswith("%"):
            with suppress(ValueError, OverflowError):
                value = float(exact_number(value[:-1].strip()) / 100)
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as problem:
            raise click.BadParameter(
                f"{problem.message.rstrip('.')}{_as_percentage(value)}", ctx, param
            ) from None


def _as_percentage(value: Any) -> str:
    """What somebody means who writes 50 for a half."""
    with suppress(TypeError, ValueError):
        if 1 < (number := float(value)) <= 100:
            return f"; {number:g} percent is {number:g}%"
    return ""


def _instant(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """The instant of `--since` or `--until`; a wrong one is refused before any work is done."""
    now = context.meta.setdefault(f"{__name__}.now", nanoseconds_now())
    return nanoseconds(parameter.opts[0], text, now)


_OPTIONS = (
    grouped_option(
        "--engine",
        type=click.Choice(["event", "point", "worlds"]),
        default="event",
        show_default=True,
        help="point expands each interval into its ticks, worlds enumerates every possible world; both are "
        "for small inputs and run in this process.",
        group=HelpGroup.RUNNING,
    ),
    grouped_option(
        "--order",
        type=click.Choice(ORDERS),
        default="auto",
        show_default=True,
        help="The order in which components are bound; changes no row.",
        group=HelpGroup.RUNNING,
    ),
    grouped_option(
        "--min-confidence",
        type=ProbabilityType(0.0, 1.0),
        metavar="C",
        help="Keep matches with at least this confidence, such as 0.5 or 50%; the larger of it and "
        "CONFIDENCE applies.",
        group=HelpGroup.ASK,
    ),
    grouped_option(
        "--top-k",
        type=click.IntRange(min=1),
        metavar="K",
        help="Keep the K most probable matches.",
        group=HelpGroup.ASK,
    ),
    grouped_option(
        "--max-matches",
        type=click.IntRange(min=1),
        default=10_000_000,
        show_default=True,
        metavar="N",
        help="Stop if there are more matches than this.",
        group=HelpGroup.ASK_FURTHER,
    ),
    memory_option,
    grouped_option(
        "--approximate",
        type=ProbabilityType(1e-4, 0.5),
        metavar="EPS",
        help="Estimate confidences that are too costly to compute exactly, to within EPS (at least 0.0001).",
        group=HelpGroup.ASK_FURTHER,
    ),
    no_given_option,
    *LAW_OPTIONS,
    grouped_option(
        "--since",
        callback=_instant,
        metavar="TIME",
        help="Keep matches that start at TIME or later: ISO 8601, -24h (before now), today, yesterday (UTC).",
        group=HelpGroup.ASK,
    ),
    grouped_option(
        "--until",
        callback=_instant,
        metavar="TIME",
        help="Keep matches that start at TIME or earlier.",
        group=HelpGroup.ASK,
    ),
)


def matching_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How a query is run and which of its matches are kept: the parameter matching (Matching)."""
    return with_options(gathered(gathered(command, "matching", Matching), "under", LawChoice), _OPTIONS)
