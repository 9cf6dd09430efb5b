"""What is said of how fine times were taken: ticks, whole units, and fractions that are all zero."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cepctl.ingestion.results import STEPS, FileResult
from cepctl.schema import MICROSECONDS, MILLISECOND, TimeUnit
from cepctl.uncertainty.model import UncertaintyModel

_NAMES = {int(MICROSECONDS[name]): name for name in ("second", "minute", "hour", "day")}
_WHOLE_SECONDS = list(STEPS).index("1 s")
_FEWEST = 2


def times_told(results: Sequence[FileResult], unit: TimeUnit, model: UncertaintyModel) -> list[str]:
    """A line on ticks and units where these are not 1 ms and exact, and one for each file of zeros.

    Where a rule of the model fits, it says all that there is to say.
    """
    units = sum((result.units for result in results), Counter[int]())
    coarse = {grain: count for grain, count in units.items() if grain > 0}
    zeros = [_zeros(result) for result in results if _has_zeros(result)]
    if coarse:
        whole = " or ".join(_NAMES[grain] for grain in sorted(coarse))
        return [
            f"ticks of {unit}; {sum(coarse.values()):,} times have no fraction, nor has any other of "
            f"their column: each stands for its whole {whole}; --exact-times takes them as exact",
            *zeros,
        ]
    chosen = model.time_unit is not None or unit == MILLISECOND
    return zeros if chosen else [f"ticks of {unit}, that of the finest digit of the times", *zeros]


def _has_zeros(result: FileResult) -> bool:
    """Whether times that no rule fits have fractions, and these are zero in all times of the file."""
    coarse_steps = result.times.place <= _WHOLE_SECONDS and len(result.times.distinct) >= _FEWEST
    return result.units[0] > 0 and coarse_steps


def _zeros(result: FileResult) -> str:
    step = result.times.step or "1 s"
    return (
        f"{result.name}: times have fractions, all of them zero, and are taken as exact; in a model the rule "
        f'granularity = "{step}" takes each as its whole unit (cepctl inspect --full infers it)'
    )
