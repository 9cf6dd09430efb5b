"""Probabilities on the command line: 0.5, or 50%."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any

import click


class Probability(click.FloatRange):
    """A number between two bounds, which may be written as a percentage."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number as a float; anything else is refused as FloatRange refuses it."""
        if isinstance(value, str) and value.endswith("%"):
            with suppress(ValueError, OverflowError):
                value = float(Fraction(value[:-1].strip()) / 100)
        return super().convert(value, param, ctx)
