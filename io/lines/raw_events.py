"""The records of a log of lines as raw events: types, attributes and times of a block at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.event_table import TIME_TYPE
from cepctl.io.contract.batches import INFERRED, column_name
from cepctl.io.contract.hosts import node_names
from cepctl.io.contract.local_instants import Instants, whole_units
from cepctl.io.contract.message_template import OTHER, OTHERS
from cepctl.io.contract.reader import (
    BELOW_NANOSECONDS,
    FOLD,
    GRAIN,
    LAYOUT,
    NANOS,
    NO_TIME,
    NO_ZONE,
    RAW_COLUMNS,
    TWICE,
    ReadOptions,
    ReadReport,
    Reject,
)
from cepctl.io.lines.beginnings import PREFIX, Beginnings, BeginningsOf
from cepctl.io.lines.dates import Dates
from cepctl.io.lines.held import HELD, layout_text
from cepctl.io.lines.local_times import WrittenTexts, instants_of
from cepctl.io.lines.messages import without_ending
from cepctl.io.lines.nearly import NEARLY, begin_otherwise, nearly_beginnings
from cepctl.io.lines.pairs import pairs_in
from cepctl.io.lines.recognition import LineLayout
from cepctl.io.log4j.records import HeadedRecords, read_records
from cepctl.io.source.message_patterns import PatternTable, TypedRecords, typed_records
from cepctl.io.templates.first_lines import of_several_lines
from cepctl.io.templates.matching import NONE
from cepctl.io.templates.variables import TemplateTable
from cepctl.numeric.arrays import Flags

UNMATCHED = "no pattern fits the log record (--keep-unmatched types it by its template)"
MESSAGE, NODE, NODE_RAW = "message", "node", "node_raw"
_CONTINUED = "lines without a time of their own, which continue the record before them: {:,}"
_OTHERWISE = (
    "lines that begin with times of another layout than that of the log, which are taken for lines of the "
    "record before them: {:,}; divide the file"
)
_BACK = "times more than half a year before the previous one, as in a log of several years: {:,}"
_HALF_A_YEAR = 183 * 86_400_000_000
_TEXTS = frozenset(
    (MESSAGE, NODE, NODE_RAW, "level", "component", "program", "thread", "label", "location", PREFIX)
)


def typed_by_patterns(records: HeadedRecords[Beginnings], table: PatternTable) -> TypedRecords:
    """Which records fit a pattern of the user, with what."""
    attributes, count = records.headers.attributes, len(records)
    loggers = attributes.get("component", attributes.get("program", pa.nulls(count, pa.string())))
    levels = pc.utf8_upper(attributes.get("level", pa.nulls(count, pa.string())))
    return typed_records(records.message, pc.fill_null(loggers, ""), levels, table)


def messages_of(text: IO[bytes], layout: LineLayout, options: ReadOptions) -> Iterator[pa.Array]:
    """The first lines of the messages of a log of a layout that no pattern fits."""
    if layout.heading.pairs or (options.patterns and not options.keep_unmatched):
        return
    table = PatternTable(options.patterns)
    beginnings = BeginningsOf(layout, messages=not options.patterns)
    for records in read_records(text, "", ReadReport(), beginnings):
        found = without_ending(layout, records.message)[0]
        if options.patterns:
            found = found.filter(pa.array(typed_by_patterns(records, table).pattern < 0))
        yield found


def tell(layout: LineLayout, report: ReadReport) -> None:
    """Say of a log how its layout was told."""
    report.time_forms[HELD] = layout_text(layout)
    report.time_forms[LAYOUT] = (
        f"{layout.stamp.name} (in {layout.timed:,} of the first {layout.lines:,} lines); "
        f"{layout.heading.name}"
    )
    if layout.headed:
        report.time_forms[LAYOUT] += f" ({layout.headed:,} of these)"
    for name, lines in layout.others:
        report.warnings.append(
            f"{lines:,} of its first {layout.lines:,} lines begin with times of another layout ({name}, not "
            f"{layout.stamp.name}): they are taken for lines of the record before them; divide the file"
        )


@dataclass
class LogOfLines:
    """The file being read and how; `last` is the latest instant of the batch before."""

    source: str
    options: ReadOptions
    report: ReadReport
    layout: LineLayout
    last: int | None = None

    def __post_init__(self) -> None:
        self.dates = Dates(self.source, self.options, self.report, self.layout)
        self.patterns = PatternTable(self.options.patterns)
        self.templates = TemplateTable(self.options.templates)

    def batch(self, records: HeadedRecords[Beginnings], numbered: int) -> pa.RecordBatch:
        """Records, the first of which is number `numbered` + 1, as raw events."""
        if of_several_lines(records.message):
            self.report.rejects.extend(self._swallowed(records))
        times = records.headers.times
        local, dated = self.dates.local(times)
        found = instants_of(np.where(dated, local, 0), times, self.options)
        usable = dated & (found.problems == "")
        for row in np.flatnonzero(~usable):
            text, cause = str(records.message[int(row)]), found.problems[row] if dated[row] else NO_TIME
            self.report.rejects.append(Reject(self.source, int(records.line[row]), cause, text))
        typed, kept = None, usable
        if self.options.patterns:
            typed = typed_by_patterns(records, self.patterns)
            self.report.patterns.update((np.unique(typed.pattern[typed.pattern >= 0]) + 1).tolist())
            if not self.options.keep_unmatched:
                kept = usable & (typed.pattern >= 0)
                skipped = int((usable & ~kept).sum())
                if skipped:
                    self.report.skipped[UNMATCHED] += skipped
        types, attributes = self._types(records, typed, kept)
        columns = {
            "number": pa.array(numbered + 1 + np.arange(len(records))),
            "event_id": pa.nulls(len(records), pa.string()),
            "event_type": types,
            **self._times(times, found, usable, kept),
        }
        columns |= {column_name(name): values for name, values in attributes.items()}
        fields = [
            pa.field(name, values.type, metadata=INFERRED if self._is_inferred(name, values) else None)
            for name, values in columns.items()
        ]
        batch = pa.RecordBatch.from_arrays(list(columns.values()), schema=pa.schema(fields))
        return batch if kept.all() else batch.filter(pa.array(kept))

    def _swallowed(self, records: HeadedRecords[Beginnings]) -> Iterator[Reject]:
        """Lines that damage keeps from beginning a record, and that stand in the record before them."""
        rows = np.flatnonzero(
            pc.match_substring(records.message, "\n").to_numpy(zero_copy_only=False).astype(np.bool_)
        )
        lines = pc.split_pattern(records.message.take(pa.array(rows)), "\n")
        row, line = pc.list_parent_indices(lines).to_numpy(), lines.flatten()
        place = np.arange(len(line)) - lines.offsets.to_numpy()[row]
        otherwise = begin_otherwise(line).to_numpy(zero_copy_only=False).astype(np.bool_) & (place > 0)
        plain = (place > 0) & ~otherwise
        for note, rows_of in ((_CONTINUED, plain), (_OTHERWISE, otherwise)):
            if rows_of.any():
                self.report.notes[note] += int(rows_of.sum())
        if self.layout.quoted:
            return
        near = nearly_beginnings(line, self.layout.beginnings).to_numpy(zero_copy_only=False)
        for at in np.flatnonzero(near & (place > 0)).tolist():
            number = int(records.line[rows[row[at]]] + place[at])
            yield Reject(self.source, number, NEARLY, str(line[at]))

    def _is_inferred(self, name: str, values: pa.Array) -> bool:
        return pa.types.is_string(values.type) and name not in RAW_COLUMNS and name not in _TEXTS

    def _types(
        self, records: HeadedRecords[Beginnings], typed: TypedRecords | None, kept: Flags
    ) -> tuple[pa.Array, dict[str, pa.Array]]:
        said, ended = without_ending(self.layout, records.message)
        types, found = self._templated(said, typed, kept)
        heading, drop_domain = {**records.headers.attributes, **ended}, self.options.drop_domain
        if self.layout.heading.type_group is not None:
            types = pc.coalesce(heading[self.layout.heading.type_group], types)
        if NODE in heading:
            heading[NODE_RAW] = heading[NODE]
            heading[NODE] = node_names(heading[NODE], drop_domain)
        attributes = heading
        for name, values in found.items():
            attributes[name if name not in heading and name != MESSAGE else f"{name}_2"] = values
        if typed is not None:
            names = pa.array([*(pattern.event_type for pattern in self.options.patterns), None], pa.string())
            types = pc.coalesce(names.take(pa.array(typed.pattern % len(names))), types)
            for name in typed.pieces:
                own = typed.column(name)
                attributes[name] = pc.coalesce(own, attributes[name]) if name in attributes else own
        attributes[MESSAGE] = records.message
        return types, attributes

    def _templated(
        self, said: pa.Array, typed: TypedRecords | None, kept: Flags
    ) -> tuple[pa.Array, dict[str, pa.Array]]:
        """Types by templates and what varies; neither where only those that a pattern fits are kept."""
        if typed is not None and not self.options.keep_unmatched:
            return pa.nulls(len(said), pa.string()), {}
        if self.layout.heading.pairs:
            return pa.repeat(pa.scalar(OTHER, pa.string()), len(said)), pairs_in(said)
        types, found, template = self.templates.typed(said)
        unknown = kept & (template == NONE)
        if typed is not None:
            unknown &= typed.pattern < 0
        if unknown.any():
            self.report.notes[OTHERS] += int(unknown.sum())
        return types, found

    def _times(self, times: WrittenTexts, found: Instants, usable: Flags, kept: Flags) -> dict[str, pa.Array]:
        unzoned = kept & ~times.zoned & (times.word == "")
        micros = found.micros[usable]
        back = int(
            (np.diff(micros, prepend=micros[:1] if self.last is None else [self.last]) < -_HALF_A_YEAR).sum()
        )
        self.last = int(micros[-1]) if len(micros) else self.last
        for note, count in (
            (NO_ZONE, int(unzoned.sum()) if self.options.time_zone is None else 0),
            (TWICE, int((kept & (found.fold > 0)).sum())),
            (BELOW_NANOSECONDS, int((kept & times.cut).sum())),
            (_BACK, back),
        ):
            if count:
                self.report.notes[note] += count
        reach = 0 if self.options.exact_times else times.precision - 1
        columns = {
            "time": pa.array(found.micros, pa.int64(), mask=~usable).cast(TIME_TYPE),
            "zone_seconds": pa.array(found.zone_seconds).cast(pa.int32()),
            "before": pa.array(np.zeros(len(usable), np.int64)),
            "after": pa.array(np.zeros(len(usable), np.int64) + reach),
        }
        if not self.options.exact_times:
            columns[GRAIN] = whole_units(times.precision)
        for name, values in ((NANOS, times.nanos), (FOLD, found.fold)):
            if values.any():
                columns[name] = pa.array(values)
        return columns
