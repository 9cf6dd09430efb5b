"""What the user chose that nothing of the input could use: told as notes, with the nearest name."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches

from cepctl.ingestion.results import FileResult
from cepctl.ingestion.type_names import TypeNames
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.tabular.files import PLAIN_FORMATS
from cepctl.uncertainty.model import Rule, UncertaintyModel

_HADOOP = frozenset({"jhist", "jhist1", "rumen", "sls"})
_GANGLIA = frozenset({"ganglia", "ganglia-csv", "ganglia-json", "rrd", "rrd-dump", "rrd-fetch", "rrd-xport"})
# Option, whether it is given, the formats whose readers look at it, and these in words.
_SWITCHES: tuple[tuple[str, Callable[[ReadOptions], bool], frozenset[str], str], ...] = (
    ("--map", lambda read: bool(read.columns), PLAIN_FORMATS, "plain event files"),
    ("--epoch-unit", lambda read: read.epoch_unit is not None, PLAIN_FORMATS, "plain event files"),
    ("--time-format", lambda read: read.time_format is not None, PLAIN_FORMATS, "plain event files"),
    (
        "--tz",
        lambda read: read.time_zone is not None and read.epoch is None,
        PLAIN_FORMATS | {"log4j", "xes", "ganglia-csv"},
        "logs that write times without a zone",
    ),
    (
        "--drop-domain",
        lambda read: read.drop_domain,
        _HADOOP | _GANGLIA | {"log4j"},
        "logs of Hadoop, Ganglia and log4j",
    ),
    ("--intervals", lambda read: read.intervals, _HADOOP | {"xes"}, "histories of Hadoop and XES"),
    ("--epoch", lambda read: read.epoch is not None, frozenset({"sls"}), "simulator workloads"),
    ("--keep-unmatched", lambda read: read.keep_unmatched, frozenset({"log4j"}), "log4j logs"),
)

FORMATS_OF = frozenset[str]().union(*(formats for _, _, formats, _ in _SWITCHES))


def unused(
    read: ReadOptions,
    names: TypeNames,
    model: UncertaintyModel,
    results: Sequence[FileResult],
    types: Mapping[str, int],
) -> list[str]:
    """A line for each choice without effect; none where there are no events, which has other reasons.

    Parameters
    ----------
    read, names, model
        The choices.
    results
        What came of the files.
    types
        The types of the events in the dataset, as they are called there, with their numbers.
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
    formats = {result.format for result in results}
    for option, is_given, useful, kind in _SWITCHES:
        if is_given(read) and not formats & useful:
            yield f"{option} was not used: it is for {kind}, and there is none"


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
            yield f"{model.file}: rule {rule.number} applies to no event{_why(rule, results, types)}"


def _why(rule: Rule, results: Sequence[FileResult], types: Mapping[str, int]) -> str:
    """Which condition has no chance, if one has not."""
    if rule.event_type is not None and not fnmatch.filter(types, rule.event_type):
        return f": no event has the type '{rule.event_type}'{_nearest(rule.event_type, types)}"
    if rule.unconditional:
        return ": events without a time keep the interval that they bring"
    return _nearest(rule.source or "", [result.name for result in results])


def _nearest(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"; did you mean '{near[0]}'?" if near else ""
