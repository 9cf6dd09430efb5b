"""From the facts of a source to findings: what is to be said of each, how bad it is, and what settles it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta, timezone

from cepctl.ingestion.results import FileTimes
from cepctl.ingestion.written_units import LOST_ZEROS
from cepctl.inspection.auditing.findings import (
    ACROSS_HOSTS,
    BY_FILE,
    CERTAIN,
    OPEN,
    TOLD,
    WEIGHTED,
    WRONG,
    Finding,
    SourceAudit,
    in_order,
)
from cepctl.inspection.auditing.neighbours import SourceFacts
from cepctl.io.contract.reader import TWICE
from cepctl.numeric.lengths import seconds_text
from cepctl.schema import ARRIVAL, MICROSECONDS, TimeUnit, tick_text

_FEW_STEPS = 0.01
_SECOND = 1_000_000
_UNITS = {int(MICROSECONDS[name]): name for name in ("second", "minute", "hour", "day")}
_DIGITS = ("digits below the nanosecond", "digits finer than a tick", "fewer digits than their times")
_SHOWN_TYPE = 40


def audit_of(
    facts: SourceFacts, times: FileTimes | None, skewed: Sequence[str], unit: TimeUnit
) -> SourceAudit:
    """What the times of a source are worth.

    `times`: what its file told while it was read; None of a dataset.  `skewed`: what is known of clocks that
    are provably wrong.
    """
    found = [*_of_order(facts), *_of_hosts(facts, skewed)]
    if times is not None:
        found += [*_of_zones(facts, times), *_of_reading(facts, times), *_of_others(facts, times)]
    return SourceAudit(
        facts.source,
        facts.events,
        facts.types,
        tick_text(facts.first, unit),
        tick_text(facts.last, unit),
        verdict_of(facts, skewed),
        in_order(found),
    )


def verdict_of(facts: SourceFacts, skewed: Sequence[str]) -> str:
    """The verdict on the order of the events of a source."""
    if skewed and facts.hosts > 1:
        return ACROSS_HOSTS
    if not facts.open_pairs:
        return CERTAIN
    return BY_FILE if _is_in_order(facts) else WEIGHTED


def _is_in_order(facts: SourceFacts) -> bool:
    """Whether records of a source stand in the order in which they were written, but for a few."""
    return facts.numbered == facts.timed > 0 and facts.late <= _FEW_STEPS * facts.numbered


def _of_order(facts: SourceFacts) -> Iterator[Finding]:
    if facts.open_pairs and facts.pair is not None:
        first, second = (_short(each) for each in facts.pair)
        said = (
            f"{facts.open_pairs:,} of {facts.events - 1:,} neighbours may have happened in the other order, "
            f"most often {first} and {second} ({facts.pair_count:,})"
        )
        file = "--writer source" if _is_in_order(facts) else "GIVEN, or a law (cepctl learn)"
        yield Finding("open-order", OPEN, said, facts.open_pairs, facts.events - 1, facts.open_at, file)
    if facts.late:
        said = (
            f"{facts.late:,} of {facts.numbered:,} records step back in time, by up to "
            f"{seconds_text(facts.worst_back / _SECOND)}"
        )
        settles = None if _is_in_order(facts) else "--writer source,ATTRIBUTE of what wrote them"
        yield Finding("steps", OPEN, said, facts.late, facts.numbered, facts.back_at, settles)
    if facts.tied:
        said = f"{facts.tied:,} of {facts.timed:,} events share their time with others"
        yield Finding("ties", TOLD, said, facts.tied, facts.timed)
    if facts.gap:
        said = f"no record for {seconds_text(facts.gap / _SECOND)}, far longer than usual"
        yield Finding("gaps", TOLD, said, 1, facts.timed, facts.gap_at)


def _of_hosts(facts: SourceFacts, skewed: Sequence[str]) -> Iterator[Finding]:
    if facts.hosts < 2:
        return
    if skewed:
        said = f"clocks of {len(skewed):,} of {facts.hosts:,} hosts are provably wrong, {skewed[0]}"
        settles = "a clock for each (--write-model), or cepctl clocks"
        yield Finding("clocks", WRONG, said, len(skewed), facts.hosts, None, settles)
    else:
        said = f"{facts.hosts:,} hosts, and nothing says how far their clocks are apart"
        settles = "--uncertainty 'node: ±SPAN', or cepctl clocks"
        yield Finding("clocks", OPEN, said, facts.hosts, facts.hosts, None, settles)


def _of_zones(facts: SourceFacts, times: FileTimes) -> Iterator[Finding]:
    assumed = sum(count for note, count in times.notes.items() if "--tz" in note)
    if assumed:
        said = f"{assumed:,} times have no zone, and are taken for UTC"
        yield Finding("zone", WRONG, said, assumed, max(times.records, assumed), None, "--tz ZONE")
    elif len(facts.offsets) > 1:
        offsets = ", ".join(map(_offset, facts.offsets))
        yield Finding("zone", TOLD, f"written in several zones: {offsets}", facts.timed, facts.timed)


def _offset(seconds: int) -> str:
    """An offset from UTC as it is written."""
    return str(timezone(timedelta(seconds=seconds)))


def _of_reading(facts: SourceFacts, times: FileTimes) -> Iterator[Finding]:
    twice = times.notes.get(TWICE, 0)
    if twice:
        said = f"{twice:,} times in an hour that happened twice, each one of two instants with one half"
        yield Finding(
            "folds", OPEN, said, twice, facts.timed, None, "--writer source, if records stand in order"
        )
    if times.untimed:
        said = f"{times.untimed:,} records without a usable time became no events"
        yield Finding("no-time", WRONG, said, times.untimed, times.records, None, "--rejects FILE has them")
    for note, count in times.notes.items():
        if any(part in note for part in _DIGITS):
            said = note.format(count).partition(";")[0].rstrip(":")
            yield Finding(
                "digits", OPEN, said, count, facts.timed, None, "write times with all of their digits"
            )
    coarse = {abs(grain): count for grain, count in times.units.items() if grain != LOST_ZEROS}
    whole = sum(coarse.values())
    if times.mixed:
        without = whole + times.units.get(LOST_ZEROS, 0)
        said = (
            f"{without:,} times have no fraction, among others that have one: {whole:,} stand for their "
            "whole second or coarser unit"
        )
        yield Finding(
            "fractions", OPEN, said, without, facts.timed, None, "--exact-times, where they are exact"
        )
    elif whole:
        names = " or ".join(_UNITS.get(grain, f"{grain} us") for grain in sorted(coarse))
        said = f"{whole:,} times are written to the {names}, and stand for all of it"
        yield Finding("unit", TOLD, said, whole, facts.timed, None, "finer times in the log")


def _of_others(facts: SourceFacts, times: FileTimes) -> Iterator[Finding]:
    for name, other in sorted(times.other_times.items(), key=lambda each: -each[1].apart):
        worst = f"{facts.source}#{other.record}"
        if name == ARRIVAL and other.before:
            said = f"{other.before:,} of {other.events:,} records arrive before they can have happened"
            yield Finding("arrival", WRONG, said, other.before, other.events, worst, "--uncertainty '±SPAN'")
        if name == ARRIVAL and other.apart:
            said = f"records arrive {' and '.join(other.distances)} than they happened"
            yield Finding("second-time", TOLD, said, other.events, facts.timed, worst)
        elif other.apart:
            said = f"{name} is a time, too, {' and '.join(other.distances)}"
            yield Finding("second-time", OPEN, said, other.events, facts.timed, worst, f"--map time={name}")


def _short(name: str) -> str:
    return name if len(name) <= _SHOWN_TYPE else name[: _SHOWN_TYPE - 1] + "…"
