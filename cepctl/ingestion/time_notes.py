"""What is said of how fine times were taken: ticks, whole units, and fractions that are all zero."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cepctl.ingestion.results import STEPS, FileResult
from cepctl.ingestion.written_units import LOST_ZEROS
from cepctl.schema import MICROSECONDS, MILLISECOND, TimeUnit
from cepctl.uncertainty.model import UncertaintyModel

_NAMES = {int(MICROSECONDS[name]): name for name in ("second", "minute", "hour", "day")}
_WHOLE_SECONDS = list(STEPS).index("1 s")
_FEWEST, _SECOND = 2, 1_000_000


def time_notes(results: Sequence[FileResult], unit: TimeUnit, model: UncertaintyModel) -> list[str]:
    """A line on ticks and units where these are not 1 ms and exact, and one for each file of zeros.

    Where a rule of the model fits, it says all that there is to say.
    """
    units, among = Counter[int](), Counter[int]()
    for result in results:
        (among if result.written.is_mixed else units).update(result.units)
    coarse = {grain: count for grain, count in units.items() if grain > 0}
    whole = sum(count for grain, count in among.items() if abs(grain) >= _SECOND)
    mixed = [
        f"times without a fraction, among others that have one: {whole:,} stand for their whole "
        f"second or coarser unit, {among[LOST_ZEROS]:,} are exact, having lost their zeros; "
        "--exact-times takes all as exact"
    ] * (whole + among[LOST_ZEROS] > 0)
    zeros = [_zeros(result) for result in results if _has_zeros(result)]
    if coarse:
        names = " or ".join(_NAMES[grain] for grain in sorted(coarse))
        return [
            f"ticks of {unit}; {sum(coarse.values()):,} times have no fraction, nor has any other of "
            f"their column: each stands for its whole {names}; --exact-times takes them as exact",
            *mixed,
            *zeros,
        ]
    chosen = model.time_unit is not None or unit == MILLISECOND
    notes = [] if chosen else [f"ticks of {unit}, that of the finest digit of the times"]
    return [*notes, *mixed, *zeros]


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
