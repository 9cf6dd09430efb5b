"""One schema for the dataset, from the kinds that every attribute had in every chunk."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cepctl.datasets.kinds import Kind, kind_of_texts, unified
from cepctl.event_table import LENGTH_COLUMNS
from cepctl.ingestion.chunks import ZONE_ATTRIBUTE
from cepctl.ingestion.results import FileResult
from cepctl.io.contract.attribute_limit import MOST_ATTRIBUTES, REST
from cepctl.schema import ATTRIBUTE_PREFIX

OTHER = "other"
# The option of those formats whose columns are the user's own.
_OF_PLAIN_FILES = "columns"


@dataclass(frozen=True)
class DatasetSchema:
    """The attributes of a dataset.

    `attributes` gives, in code-point order of the column names, the column, the attribute in the
    chunks and its kind; `overflow` the attributes whose values go to the JSON column `other`, and
    `crowded` says that some files brought such values as JSON already; `zoned` whether the offsets of
    the zones are kept, `ended` whether the times of ends are, `clocked` whether some event has a clock,
    `lengths` which of LENGTH_COLUMNS are, `writers` whether it is known who wrote the events, and `along`
    whether something else than their records tells in which order.
    """

    attributes: tuple[tuple[str, str, Kind], ...]
    overflow: tuple[str, ...] = ()
    crowded: bool = False
    zoned: bool = False
    ended: bool = False
    clocked: bool = False
    warnings: tuple[str, ...] = ()
    lengths: tuple[str, ...] = ()
    writers: bool = False
    along: bool = False


def unify(results: Sequence[FileResult], known: Mapping[str, Kind] | None = None) -> DatasetSchema:
    """Choose the columns: the attributes with the most values when there are too many.

    `known` are the kinds of attributes in events before these, which they have to agree with.
    """
    known = known or {}
    kinds: defaultdict[str, set[Kind]] = defaultdict(set)
    values: Counter[str] = Counter()
    large: Counter[str] = Counter()
    for result in results:
        for name, facts in result.attributes().items():
            kinds[name] |= facts.kinds
            values[name] += facts.values
            large[name] += facts.beyond_floats
    crowded = values.pop(REST, 0)
    kinds.pop(REST, None)
    by_use = sorted(kinds, key=lambda name: (-values[name], name))
    kept, overflow = by_use[:MOST_ATTRIBUTES], sorted(by_use[MOST_ATTRIBUTES:])
    columns = []
    for name in kept:
        column = ATTRIBUTE_PREFIX + name if (overflow or crowded) and name == OTHER else name
        columns.append((column, name, unified(kinds[name] | {known[name]} if name in known else kinds[name])))
    texts = _mixed_texts(results)
    seen = {
        name: texts[name] if name in texts and kinds[name] == {Kind.STRING} else kinds[name]
        for name in sorted(kept)
    }
    warnings = [_mixed(name, found) for name, found in seen.items() if _is_mixed(found)]
    warnings += [
        _rounded(name, large[name])
        for _, name, kind in sorted(columns, key=lambda column: column[1])
        if kind is Kind.FLOAT and large[name]
    ]
    if overflow:
        warnings.append(
            f"{len(kinds):,} attributes: the {len(overflow):,} with the fewest values are in the column "
            f"'{OTHER}', as JSON"
        )
    if crowded:
        warnings.append(
            f"more than {MOST_ATTRIBUTES:,} attributes in one file: those beyond the first "
            f"{MOST_ATTRIBUTES:,}, set in {crowded:,} events, are in the column '{OTHER}', as JSON"
        )
    zoned = any(chunk.zoned for result in results for chunk in result.chunks)
    ended = any(chunk.ended for result in results for chunk in result.chunks)
    lengths = {name for result in results for chunk in result.chunks for name in chunk.lengths}
    clocked = any(chunk.clocks for result in results for chunk in result.chunks)
    return DatasetSchema(
        tuple(sorted(columns)), tuple(overflow), crowded > 0, zoned and _free(columns), ended, clocked,
        tuple(warnings), tuple(name for name in LENGTH_COLUMNS if name in lengths),
    )  # fmt: skip


def _free(columns: Sequence[tuple[str, str, Kind]]) -> bool:
    return all(column != ZONE_ATTRIBUTE for column, _, _ in columns)


def _mixed_texts(results: Sequence[FileResult]) -> dict[str, set[Kind]]:
    """What texts look like in columns of plain files that are text, though some would not have to be."""
    mixed: defaultdict[str, set[Kind]] = defaultdict(set)
    for result in results:
        if _OF_PLAIN_FILES in result.options:
            for name, facts in result.texts().items():
                if kind_of_texts(facts) is Kind.STRING:
                    mixed[name] |= facts
    return mixed


def _is_mixed(kinds: set[Kind]) -> bool:
    return unified(kinds) is Kind.STRING and not kinds <= {Kind.STRING}


def _mixed(name: str, kinds: set[Kind]) -> str:
    said = " and ".join(sorted(kind.value for kind in kinds))
    return f"attribute '{name}' holds {said}; its column is text"


def _rounded(name: str, count: int) -> str:
    return (
        f"attribute '{name}' holds int and float; its column is float, in which {count:,} whole "
        f"{'number' if count == 1 else 'numbers'} beyond 2^53 became the nearest it holds"
    )
