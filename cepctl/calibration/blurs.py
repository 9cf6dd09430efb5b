"""Blurs: how true times are hidden.  Each is an uncertainty model, whose rules also say how to draw.

blur               rule                                  what is read of a true tick t
--coarsen D        granularity = "D"                     the unit of length D that contains t
--jitter D         interval = { before = D, after = D }  t + u, u any of -D..D
--clock 'by=A D'   clock = { by = "A", offset = "D" }    t less the offset of its clock, -D..D
--model FILE       those of the file                     t less a draw from the mass of its rule; of a clock
                                                         that was recorded what the rule takes back to t
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cepctl.calibration.recorded_readings import too_steep
from cepctl.errors import UncertaintyModelError, UnsupportedQueryError, UsageError
from cepctl.schema import TimeUnit, parse_duration
from cepctl.uncertainty.clock_rules import read_clock
from cepctl.uncertainty.model import Rule, load_model
from cepctl.uncertainty.recorded_offsets import RecordedOffset
from cepctl.uncertainty.shapes import Granularity, Interval

_CLOCK = re.compile(r"\s*by\s*=\s*(\S|\S.*\S)\s+([+-]?\d+(?:\.\d+)?\s*[A-Za-z]+)\s*")
ONE_BLUR = (
    "name one blur, the way in which true times are hidden: --coarsen '1 day', --jitter '60 s', "
    "--clock 'by=ATTR 500 ms' or --model FILE"
)


@dataclass(frozen=True)
class Blur:
    """How true times are hidden: the `rules` of a model, `text` as the user wrote it."""

    text: str
    rules: tuple[Rule, ...]

    @property
    def recorded(self) -> Rule | None:
        """The rule whose clocks were recorded, None where there is none."""
        return next(filter(_is_recorded, self.rules), None)

    @property
    def columns_read(self) -> frozenset[str]:
        """The columns that its rules read."""
        return frozenset[str]().union(*(rule.columns_read for rule in self.rules))


def blur_of(
    coarsen: str | None, jitter: str | None, clock: str | None, model: str | None, unit: TimeUnit
) -> Blur:
    """The blur that was asked for, of events whose ticks are of one length.

    Raises
    ------
    UsageError
        If there is none, or there are two.
    UncertaintyModelError, UnsupportedQueryError
        If a duration, a clock or the model is not what it should be.
    """
    require_one_blur(coarsen, jitter, clock, model)
    try:
        if coarsen is not None:
            return Blur(f"coarsen {coarsen}", (Rule(1, shape=Granularity.read(coarsen)),))
        if jitter is not None:
            return Blur(f"jitter {jitter}", (Rule(1, interval=_around(jitter)),))
        if clock is not None:
            return Blur(f"clock {clock}", (_clock_rule(clock),))
    except UncertaintyModelError as problem:
        raise UncertaintyModelError(f"the blur: {problem}") from None
    assert model is not None
    return _of_model(model, unit)


def require_one_blur(*given: str | None) -> None:
    """Raise UsageError unless one blur is given, and no second one."""
    if sum(each is not None for each in given) != 1:
        raise UsageError(ONE_BLUR)


def _around(text: str) -> Interval:
    length = parse_duration(text)
    if length <= 0:
        raise UncertaintyModelError(
            f"jitter '{text}' hides nothing; write a duration above 0, such as '60 s'"
        )
    return Interval(length, length)


def _clock_rule(text: str) -> Rule:
    found = _CLOCK.fullmatch(text)
    if found is None:
        raise UncertaintyModelError(f"'{text}' is not a clock; write --clock 'by=node 500 ms'")
    return Rule(1, clock=read_clock({"by": found[1], "offset": found[2]}))


def _of_model(path: str, unit: TimeUnit) -> Blur:
    model = load_model(path)
    if not model.rules:
        raise UncertaintyModelError(f"{path} hides nothing, it has no [[rule]]; add one")
    if model.time_unit not in (None, unit):
        raise UncertaintyModelError(
            f"{path} counts in ticks of {model.time_unit}, the events in ticks of {unit}; leave time_unit out"
        )
    if model.given:
        raise UnsupportedQueryError(f"calibrate with [[given]] is not supported; leave it out of {path}")
    for rule in model.rules:
        if rule.end is not None or rule.length is not None:
            raise UnsupportedQueryError(
                f"calibrate of interval events is not supported; leave end and length out of rule "
                f"{rule.number} of {path}"
            )
        if rule.clock is not None and rule.clock.period is not None:
            raise UnsupportedQueryError(
                f"calibrate with the period of a clock is not supported; leave it out of rule {rule.number} "
                f"of {path}"
            )
    for rule in filter(_is_recorded, model.rules):
        require_readable(rule, path)
    recorded = [rule.number for rule in model.rules if _is_recorded(rule)]
    if len(recorded) > 1:
        raise UnsupportedQueryError(
            "calibrate with what was recorded of clocks (`from`) in two rules is not supported; leave it out "
            f"of rule {recorded[1]} of {path}"
        )
    return Blur(f"model {path}", model.rules)


def _is_recorded(rule: Rule) -> bool:
    return rule.clock is not None and isinstance(rule.clock.offset, RecordedOffset)


def require_readable(rule: Rule, path: str) -> None:
    """Raise UnsupportedQueryError where readings of recorded clocks cannot be drawn for a rule."""
    assert rule.clock is not None
    assert isinstance(rule.clock.offset, RecordedOffset)
    recorded, place = rule.clock.offset, f"rule {rule.number} of {path}"
    if isinstance(rule.shape, Granularity):
        raise UnsupportedQueryError(
            "calibrate with what was recorded of clocks (`from`) beside a granularity is not supported; "
            f"leave the granularity out of {place}"
        )
    if (host := too_steep(recorded.records)) is not None:
        raise UnsupportedQueryError(
            f"calibrate with an estimate that moves half as fast as time, as that of '{host}' in "
            f"{recorded.records.file}, is not supported; leave that host out of the table"
        )
