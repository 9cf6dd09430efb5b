"""What the user chose that nothing of the input could use: told as notes, with the nearest name."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches

from cepctl.ingestion.results import FileResult
from cepctl.ingestion.type_names import TypeNames
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.formats import known_formats
from cepctl.uncertainty.model import Rule, UncertaintyModel

# Option, the field of ReadOptions, whether it is given, and what it is for, in words of the formats' own.
_SWITCHES: tuple[tuple[str, str, Callable[[ReadOptions], bool], str], ...] = (
    ("--map", "columns", lambda read: bool(read.columns), "{}"),
    ("--columns-of", "column_names", lambda read: bool(read.column_names), "{}"),
    ("--epoch-unit", "epoch_unit", lambda read: read.epoch_unit is not None, "{}"),
    ("--time-format", "time_format", lambda read: read.time_format is not None, "{}"),
    ("--tz", "time_zone", lambda read: read.time_zone is not None and read.epoch is None, "{}"),
    ("--zone", "zone_words", lambda read: bool(read.zone_words), "{}"),
    ("--drop-domain", "drop_domain", lambda read: read.drop_domain, "logs of {}"),
    ("--intervals", "intervals", lambda read: read.intervals, "logs of {}"),
    ("--per-object", "per_object", lambda read: read.per_object is not None, "logs of {}"),
    ("--exact-times", "exact_times", lambda read: read.exact_times, "{}"),
    ("--epoch", "epoch", lambda read: read.epoch is not None, "{}"),
    ("--keep-unmatched", "keep_unmatched", lambda read: read.keep_unmatched, "{} logs"),
)


def unused(
    read: ReadOptions,
    names: TypeNames,
    model: UncertaintyModel,
    results: Sequence[FileResult],
    types: Mapping[str, int],
) -> list[str]:
    """A line for each choice without effect; none where there are no events, which has other reasons.

    `read`, `names`, `model`: the choices.  `results`: what came of the files.  `types`: the types of the
    events in the dataset, as they are called there, with their numbers.
    """
    if not types:
        return []
    return [
        *_unused_switches(read, results),
        *_unused_patterns(read, results),
        *_unused_names(names, results, types),
        *_unused_rules(model, results, types),
    ]


def _unused_switches(read: ReadOptions, results: Sequence[FileResult]) -> Iterator[str]:
    useful = frozenset[str]().union(*(result.options for result in results))
    for option, name, is_given, kind in _SWITCHES:
        if is_given(read) and name not in useful:
            yield f"{option} was not used: it is for {kind.format(_files_for(name))}, and there is none"


def _files_for(name: str) -> str:
    """What formats call the files that an option is for, each name at the place of the last that gives it."""
    formats = enumerate(known_formats())
    last = {known.options[name]: place for place, known in formats if name in known.options}
    *others, final = sorted(last, key=last.__getitem__)
    return f"{', '.join(others)} and {final}" if others else final


def _unused_patterns(read: ReadOptions, results: Sequence[FileResult]) -> Iterator[str]:
    used = frozenset[int]().union(*(result.patterns for result in results))
    for number, pattern in enumerate(read.patterns, 1):
        if number not in used:
            yield f"--patterns: pattern {number} (event_type '{pattern.event_type}') fits no log line"


def _unused_names(names: TypeNames, results: Sequence[FileResult], types: Mapping[str, int]) -> Iterator[str]:
    used = frozenset[str]().union(*(result.renamed for result in results))
    new_names = {new for _, new in names}
    for old, new in names:
        if old not in used:
            # A type that got its name by another choice is called otherwise in the log.
            known = [*sorted(used), *(name for name in types if name not in new_names)]
            yield f"--name {old}={new}: no event has the type '{old}'{_nearest(old, known)}"


def _unused_rules(
    model: UncertaintyModel, results: Sequence[FileResult], types: Mapping[str, int]
) -> Iterator[str]:
    used = frozenset[int]().union(*(result.rules for result in results))
    for rule in model.rules:
        # What fits every event stands last, for those that no other rule fits, and there need be none.
        if rule.number not in used and not (used and rule.unconditional):
            earlier = any(number < rule.number for number in used)
            why = _why(rule, results, types, earlier=earlier)
            yield f"{model.file}: rule {rule.number} applies to no event{why}"


def _why(rule: Rule, results: Sequence[FileResult], types: Mapping[str, int], *, earlier: bool) -> str:
    """Which condition has no chance, if one has not.

    `earlier`: some rule before it applies to events, which are not asked for this one.
    """
    if rule.event_type is not None and not fnmatch.filter(types, rule.event_type):
        return f": no event has the type '{rule.event_type}'{_nearest(rule.event_type, types)}"
    files = [result.name for result in results]
    for name, value in rule.attributes:
        have = sorted({each for result in results for each in result.named})
        return (
            f": no event has a '{name}'{_nearest(name, have)}"
            if name not in have
            else f": the rules before it take every event whose {name} is {value}, or there is none"
            if earlier
            else f": no {name} is {value}"
        )
    if rule.of is not None:
        return f": no type or file has the name '{rule.of}'{_nearest(rule.of, [*types, *files])}"
    by = None if rule.clock is None else rule.clock.by
    known = {name for result in results for name in result.named} | {"source", "event_type"}
    if by is not None and by not in known:
        return f": no event has a '{by}'{_nearest(by, sorted(known))}"
    if rule.unconditional:
        return ": events without a time keep the interval that they bring"
    if earlier and rule.where is None and fnmatch.filter(files, rule.source or "*"):
        return ": the rules before it take all its events"
    return _nearest(rule.source or "", files)


def _nearest(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"; did you mean '{near[0]}'?" if near else ""
