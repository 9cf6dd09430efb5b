"""From what is new in the inputs to events, in the columns, types and ticks of those before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from cepctl.clocks.shared import Clocks, joined_clocks, rescaled_clocks
from cepctl.datasets.kinds import ARROW_TYPES, Kind
from cepctl.datasets.stored_events import fixed_columns
from cepctl.errors import UsageError
from cepctl.event_table import ORIGIN_COLUMNS
from cepctl.ingestion.growing_writers import Growth
from cepctl.ingestion.jobs import ingest_files
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.clock_offsets import rescaled_of_clocks
from cepctl.io.contract.message_template import MessageTemplate
from cepctl.matching.inputs import EventInputs, open_events
from cepctl.plan.event_schema import EventSchema
from cepctl.schema import CLOCK, IN_ORDER_ALONG, IN_WRITTEN_ORDER, RECORD, TimeUnit
from cepctl.state.news import News
from cepctl.state.progress import Progress
from cepctl.state.sources import UNREADABLE, Source

_KINDS = {arrow: kind for kind, arrow in ARROW_TYPES.items()}


@dataclass(frozen=True)
class Known:
    """What is known of the events before: types of attributes, time unit, counts per event type, clocks, the
    templates that types were given by, and what is decided of the order of records.
    """

    attributes: Mapping[str, pa.DataType]
    time_unit: TimeUnit | None
    type_counts: Mapping[str, int]
    clocks: Clocks = field(default_factory=dict)
    templates: tuple[MessageTemplate, ...] = ()
    growth: Growth | None = None

    @property
    def decided(self) -> Growth:
        """What is decided of the order of records; of a state that left it out, the unit of its times."""
        return self.growth or Growth(self.time_unit, self.time_unit)

    @property
    def given(self) -> tuple[str, ...]:
        """What holds in every world."""
        order = IN_ORDER_ALONG if self.decided.is_along else IN_WRITTEN_ORDER
        return (order,) if self.decided.is_ordered else ()


@dataclass(frozen=True)
class Arrivals:
    """The new events, opened; `schema` is that of all events up to now, `seen` are the URIs of all inputs,
    and `growth` what is decided of the order of records.
    """

    inputs: EventInputs | None
    schema: EventSchema
    sources: tuple[Source, ...]
    seen: set[str]
    growth: Growth
    summary: IngestSummary | None = None

    def read(self, names: Sequence[str]) -> pa.Table:
        """The new events: the fixed columns, and these attributes in the types of `schema`."""
        fixed = fixed_columns(replace(self.schema, lasting=False))
        wanted = pa.schema([*(fixed | {name: self.schema.readable[name] for name in names}).items()])
        if self.inputs is None:
            return wanted.empty_table()
        new = self.inputs.schema
        present = [name for name in names if name in new.readable]
        table = self.inputs.read(present)
        table = rescaled_of_clocks(table, new.time_unit, self.schema.time_unit, new.clocks)
        for name in wanted.names:
            if name not in table.column_names:
                table = table.append_column(name, pa.nulls(len(table), wanted.field(name).type))
        return table.select(wanted.names).cast(wanted, safe=False)


@contextmanager
def arrivals(news: News, known: Known, options: IngestOptions, scratch: Path) -> Iterator[Arrivals]:
    """Ingest what is new.

    Raises
    ------
    UsageError
        If the new events count time in finer ticks, or an attribute is no longer what it was.
    UnsupportedQueryError
        If something else than records tells in which order new events were written, and only records did.
    EventSchemaError
        If a clock has another offset than before.
    LogFormatError
        If an input cannot be read, or is damaged beyond what is allowed.
    """
    if not news.pieces:
        unit = known.time_unit or TimeUnit()
        schema = EventSchema(known.attributes, unit, known.type_counts, known.clocks, known.given)
        yield Arrivals(None, schema, tuple(news.unchanged), news.seen, known.decided)
        return
    kinds = {name: _KINDS[kind] for name, kind in known.attributes.items()}
    decided = known.decided
    dataset = str(scratch / "events")
    is_rest = known.time_unit is not None
    own = options.read.templates
    kept = [each for each in known.templates if each.tokens not in {mine.tokens for mine in own}]
    options = replace(options, read=replace(options.read, templates=(*own, *kept)))
    reading = replace(
        options,
        known_kinds=kinds,
        known_unit=decided.times,
        is_rest=is_rest,
        growth=replace(decided, is_along=decided.is_along or _order_of_something_else(options)),
    )
    summary = ingest_files([piece.file for piece in news.pieces], dataset, reading)
    with open_events([dataset]) as inputs:
        schema = _joined(known, inputs.schema)
        growth = summary.growth or decided
        yield Arrivals(inputs, schema, _sources(news, summary), news.seen, growth, summary)


def _order_of_something_else(options: IngestOptions) -> bool:
    """Whether something else than records tells in which order some events were written."""
    rules = [rule.writer for rule in options.model.rules] if options.writers is None else options.writers
    return any(rule is not None and rule.along != RECORD for rule in rules)


def _joined(known: Known, new: EventSchema) -> EventSchema:
    if known.time_unit is not None and new.time_unit.microseconds < known.time_unit.microseconds:
        raise UsageError(
            f"the new events count time in ticks of {new.time_unit}, those before in ticks of "
            f"{known.time_unit}; name one time_unit in the uncertainty model, or start a new state"
        )
    for name, kind in known.attributes.items():
        now = new.attributes.get(name, kind)
        if now != kind and {_KINDS[now], _KINDS[kind]} != {Kind.INT, Kind.FLOAT}:
            raise UsageError(
                f"attribute '{name}' was {_KINDS[kind].value} in all events before, and is "
                f"{_KINDS[now].value} in the new ones; correct the log, or start a new state"
            )
    counts = Counter(known.type_counts) + Counter(new.type_counts or {})
    attributes = {**known.attributes, **new.attributes}
    unit = known.time_unit or new.time_unit
    clocks = joined_clocks([known.clocks, rescaled_clocks(new.clocks, new.time_unit, unit)])
    given = tuple(dict.fromkeys((*new.given, *known.given)))
    return EventSchema(attributes, unit, dict(counts), clocks, given, laws=new.laws)


def _sources(news: News, summary: IngestSummary) -> tuple[Source, ...]:
    """What is known of the inputs now, with the records that readers counted."""
    accounts = {account.file: account for account in summary.accounts}
    sources = list(news.unchanged)
    for piece in news.pieces:
        account = accounts[piece.file.name]
        if account.unreadable is not None:
            sources.append(piece.before or replace(piece.source, by_lines=False, format=UNREADABLE))
            continue
        counted = 0
        if piece.records is not None and piece.records.counted_by_reader:
            counted = account.records - account.rejected.get(piece.records.unnumbered, 0)
        forms = dict(account.time_forms)
        sources.append(replace(piece.source, records=piece.source.records + counted, time_forms=forms))
    return tuple(sources)


def widened(before: Progress, schema: pa.Schema) -> Progress:
    """The state with its events in the columns and types of the new ones."""
    return replace(before, events=_in_form(before.events, schema), late=_in_form(before.late, schema))


def _in_form(events: pa.Table, schema: pa.Schema) -> pa.Table:
    if CLOCK in schema.names and CLOCK not in events.column_names:
        events = events.append_column(CLOCK, pa.nulls(len(events), pa.string()))
    for name in ORIGIN_COLUMNS:
        if name in schema.names and name not in events.column_names:
            events = events.append_column(name, pa.nulls(len(events), schema.field(name).type))
    # Where no clock is left, no event of one is.
    return events.select(schema.names).cast(schema, safe=False)
