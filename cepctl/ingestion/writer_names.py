"""Which writer each event of a chunk has, and along what it wrote it: two raw columns, by the rules.

What a writer is called: the values that its events share, with a blank between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import UncertaintyModelError, UsageError
from cepctl.event_table import FIXED_COLUMNS, ORIGIN_COLUMNS
from cepctl.ingestion.chunks import RAW_ALONG, RAW_WRITER, has_column
from cepctl.ingestion.results import FileResult
from cepctl.io.contract.times import parse_time
from cepctl.numeric.arrays import Indexes
from cepctl.schema import CLOCK, OF_ENDS, RECORD, SOURCE
from cepctl.uncertainty.assign import rows_of_rules
from cepctl.uncertainty.model import Rule
from cepctl.uncertainty.writer_rules import OF_LINES, WriterRule

NAMES = pa.dictionary(pa.int32(), pa.string())
_ESCAPED = {"%": "%25", " ": "%20", "#": "%23", "=": "%3D"}


@dataclass(frozen=True)
class Writing:
    """Who wrote the events of a file.

    `rules`: as those of the model, of which the first that fits an event says it.  `of_lines`: where these
    say nothing, lines of a log were written in their order, those of each host by another writer.
    """

    rules: tuple[Rule, ...] = ()
    of_lines: bool = False

    @property
    def along(self) -> bool:
        """Whether something else than records tells an order."""
        return any(rule.writer is not None and rule.writer.along != RECORD for rule in self.rules)


def with_writers(table: pa.Table, writing: Writing, conditions: dict[str, pa.ChunkedArray]) -> pa.Table:
    """A chunk that says who wrote its events, where somebody says so.

    Raises
    ------
    UncertaintyModelError
        If that along which events were written is neither a number nor a time.
    """
    if writing.of_lines:
        parts = [_codes(table.column(SOURCE))]
        parts += [_codes(table.column(name), name) for name in OF_LINES if has_column(table, name)]
        return table.append_column(RAW_WRITER, _joined(parts, nulls=True))
    if not any(rule.writer for rule in writing.rules):
        return table
    names = pa.nulls(len(table), NAMES)
    along = table.column(RECORD)
    known = np.ones(len(table), dtype=bool)
    for rule, rows in zip(writing.rules, rows_of_rules(writing.rules, conditions, known), strict=True):
        if rule.writer is None or not rows.any():
            continue
        own, order = pa.array(rows), _order_of(table, rule.writer, conditions)
        written = pc.and_(own, pc.is_valid(order))
        own_names = _named(table, rule.writer, conditions)
        if rule.writer.of_ends:
            own_names = pc.binary_join_element_wise(own_names, OF_ENDS, "")
        names = pc.if_else(written, own_names, names.cast(pa.string()))
        names = names.cast(pa.string()).dictionary_encode()
        along = pc.if_else(own, order, along)
    table = _with(table, RAW_WRITER, names)
    return _with(table, RAW_ALONG, along) if writing.along else table


def require_columns(results: Sequence[FileResult], writing: Writing, *, in_model: bool) -> None:
    """Raise UsageError where no event has a value in a column that tells who wrote it."""
    values: Counter[str] = Counter(dict.fromkeys([*FIXED_COLUMNS, *ORIGIN_COLUMNS], 1))
    for chunk in (chunk for result in results for chunk in result.chunks):
        values.update({name: facts.values for name, facts in chunk.attributes.items()})
        values[CLOCK] += len(chunk.clocks)
    for rule in writing.rules:
        for name in sorted(rule.writer.columns_read) if rule.writer is not None else ():
            said = f"rule {rule.number}: writer '{name}'" if in_model else f"--writer {name}"
            if name not in values:
                near = get_close_matches(name, values, 1)
                hint = f"; did you mean '{near[0]}'?" if near else ""
                raise UsageError(f"{said}: no event has such an attribute{hint}")
            if not values[name]:
                raise UsageError(f"{said}: it is null in every event; name columns that events have")


def _with(table: pa.Table, name: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    if has_column(table, name):
        return table.set_column(table.column_names.index(name), name, values)
    return table.append_column(name, values)


def _named(table: pa.Table, rule: WriterRule, conditions: dict[str, pa.ChunkedArray]) -> pa.Array:
    columns = [conditions[name] if name in conditions else table.column(name) for name in rule.by]
    return _joined([_codes(column) for column in columns], nulls=False).cast(pa.string())


@dataclass(frozen=True)
class _Codes:
    """Values as numbers, -1 for none, and how each is written in the name of a writer."""

    number: Indexes
    texts: tuple[str, ...]


def _codes(column: pa.ChunkedArray | pa.Array, name: str = "") -> _Codes:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = whole.cast(pa.string()).dictionary_encode()
    number = np.asarray(pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False), np.int64)
    prefix = "" if name in ("", OF_LINES[0]) else f"{name}="
    return _Codes(number, tuple(prefix + _escaped(text) for text in encoded.dictionary.to_pylist()))


def _escaped(text: str) -> str:
    return "".join(_ESCAPED.get(character, character) for character in text)


def _joined(parts: Sequence[_Codes], *, nulls: bool) -> pa.Array:
    """The names of writers; where `nulls` are no values like others, events that have some are of none."""
    number, texts = parts[0].number, [*parts[0].texts]
    for part in parts[1:]:
        size = len(part.texts) + 1
        both, back = np.unique(np.where(number < 0, -1, number * size + part.number + 1), return_inverse=True)
        texts = [_both(texts, part, int(each), size) for each in both]
        number = back.astype(np.int64)
        without = both[back] < 0 if nulls else (both[back] < 0) | (both[back] % size == 0)
        number = np.where(without, -1, number)
    indices = pa.array(number.astype(np.int32), mask=number < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(texts, pa.string()))


def _both(texts: Sequence[str], part: _Codes, code: int, size: int) -> str:
    if code < 0:
        return ""
    first, second = divmod(code, size)
    return texts[first] if second == 0 else f"{texts[first]} {part.texts[second - 1]}"


def _order_of(table: pa.Table, rule: WriterRule, conditions: dict[str, pa.ChunkedArray]) -> pa.Array:
    """That along which events were written, as integers; of times these are nanoseconds."""
    column = table.column("time") if rule.along == "time" else conditions.get(rule.along)
    assert column is not None
    whole = column.combine_chunks()
    if pa.types.is_timestamp(whole.type):
        return whole.cast(pa.int64())
    if pa.types.is_string(whole.type):
        return _nanoseconds(whole, rule)
    if pa.types.is_integer(whole.type):
        return whole.cast(pa.int64())
    if pa.types.is_null(whole.type):
        return pa.nulls(len(whole), pa.int64())
    raise UncertaintyModelError(
        f"writer: along = '{rule.along}' holds neither integers nor times; name a column that does"
    )


def _nanoseconds(texts: pa.Array, rule: WriterRule) -> pa.Array:
    encoded = texts.dictionary_encode()
    values = []
    for text in encoded.dictionary.to_pylist():
        found = parse_time(text, None)
        if found is None:
            raise UncertaintyModelError(
                f"writer: along = '{rule.along}' is text, such as '{text[:40]}'; name a column of integers "
                "or times"
            )
        values.append(found.micros * 1_000 + found.nanos)
    return pa.array(values, pa.int64()).take(encoded.indices)
