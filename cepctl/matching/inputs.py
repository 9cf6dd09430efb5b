"""Events for a query: ingested datasets, plain event files and raw logs, opened alike.

Everything that is not a dataset yet goes through the ingest into a temporary dataset, so a query on a
raw log sees exactly what a query on the ingested log would.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.atomic.folders import temporary_folder
from cepctl.clocks.shared import joined_clocks, rescaled_clocks
from cepctl.datasets.kinds import Kind, unified
from cepctl.datasets.left_behind import LeftBehind
from cepctl.datasets.marker import check_count
from cepctl.datasets.part_files import ArrowEvents, bytes_of_event, events_held, pieces_of_part, rows_of_part
from cepctl.datasets.stored import (
    STANDARD_INPUT,
    StoredDataset,
    some_event_lasts,
    stored_dataset,
    temporary_dataset,
)
from cepctl.datasets.stored_events import KINDS, StoredEvents, common_form, fixed_columns
from cepctl.errors import EventSchemaError, QueryTooLargeError
from cepctl.event_table import FIXED_COLUMNS, is_attribute
from cepctl.io.contract.rescaling import last_tick
from cepctl.io.source.locations import is_stream
from cepctl.laws.law import OrderLaw
from cepctl.plan.event_schema import EventSchema
from cepctl.process.memory import MemoryBudget, size_text
from cepctl.schema import WRITTEN_ORDERS

if TYPE_CHECKING:
    from cepctl.ingestion.needed import Needed
    from cepctl.ingestion.options import IngestOptions
    from cepctl.ingestion.summary import IngestSummary

_ADVISED_BYTES = 100_000_000


@dataclass(frozen=True)
class EventInputs:
    """Opened events of one or more inputs.

    `schema` holds the attributes of all inputs in one type each and the finest time unit;
    `summary` what was said while raw input was ingested, None when there was none; the dataset made
    of it is the `temporary` one.  `only` are the row groups that a query needs of each dataset, as their
    sketches tell; None for all.  `read_whole` makes the dataset of raw input anew, with all events.
    """

    datasets: tuple[StoredDataset, ...]
    schema: EventSchema
    summary: IngestSummary | None = None
    temporary: StoredDataset | None = None
    only: tuple[frozenset[tuple[int, int]], ...] | None = None
    read_whole: Callable[[], StoredDataset] | None = field(default=None, compare=False)

    def whole(self) -> EventInputs:
        """The inputs with all events; raw input of which some were left behind is read again."""
        return self._without(lambda left: left.events > 0)

    def _without(self, lacks: Callable[[LeftBehind], bool]) -> EventInputs:
        """The inputs, of which raw input is read again where what it left behind `lacks` something."""
        left = [each for each in self.datasets if each.left_behind is not None and lacks(each.left_behind)]
        if not left or self.read_whole is None:
            return self
        whole = self.read_whole()
        return replace(
            self, datasets=tuple(whole if each in left else each for each in self.datasets), temporary=whole
        )

    def _with_attributes(self, names: Sequence[str]) -> EventInputs:
        """The inputs with some attributes, which may not have been read of raw input."""
        return self._without(lambda left: not left.unread.isdisjoint(names))

    def read(
        self, attributes: Sequence[str] | None = None, event_types: Collection[str] | None = None
    ) -> pa.Table:
        """The events as one table sorted by (lower, event_id).

        `attributes`: the attributes to read, None for all.  `event_types`: the types to read, None for all;
        row groups without any of them are not touched.  Returns the fixed columns
        (cepctl.event_table.FIXED_COLUMNS) in their order, then the attributes as they were asked for, in the
        types of `schema`.  Ticks are counted in its time unit.

        Raises
        ------
        EventSchemaError
            If no input has such an attribute, two inputs hold events with the same id, or a dataset
            lacks some of what its ingest has written.
        """
        names = list(self.schema.attributes if attributes is None else attributes)
        for name in names:
            if name not in self.schema.readable:
                raise EventSchemaError(_missing(name, self.schema))
        datasets, wanted = self._with_attributes(names).datasets, None
        if event_types is not None:
            wanted = pc.field("event_type").isin(pa.array(sorted(event_types), pa.string()))
        tables = [_events(dataset, names, self.schema, wanted) for dataset in datasets]
        table = pa.concat_tables(tables)
        if len(tables) == 1:
            return table.combine_chunks()
        _refuse_duplicates(table)
        order = pc.sort_indices(table, sort_keys=[("lower", "ascending"), ("event_id", "ascending")])
        return table.take(order).combine_chunks()

    def blocks(self, attributes: Sequence[str]) -> Iterator[pa.Table]:
        """The events as `read` gives them, of datasets one after the other, so many at a time as are read."""
        for dataset in self._with_attributes(attributes).datasets:
            filesystem, _ = dataset.location.resolve()
            check_count(dataset.location, events_held(dataset), dataset.events)
            columns = _columns_of(dataset, attributes, self.schema)
            for part in dataset.parts:
                for table in pieces_of_part(part, columns, filesystem):
                    yield common_form(table, dataset.time_unit, self.schema, attributes, dataset.clocks)

    def require_own_ids(self) -> None:
        """Raise EventSchemaError if two inputs hold events with the same id."""
        if len(self.datasets) > 1:
            _refuse_duplicates(pa.concat_tables(table.select(["event_id"]) for table in self.blocks([])))

    def count_events(self) -> int:
        """How many events there are, as the footers of all parts have it, with those left behind."""
        left = [each.left_behind.events for each in self.datasets if each.left_behind is not None]
        return self.count_held() + sum(left)

    def count_held(self) -> int:
        """How many events there are to be matched, as the footers of all parts have it."""
        return sum(map(events_held, self.datasets))

    def require_room(
        self,
        attributes: Sequence[str],
        copies: int,
        memory: MemoryBudget,
        purpose: str,
        fewer: str = "name parts (EVENTS/part-00000.parquet)",
    ) -> None:
        """Refuse to read all events where they do not fit in memory, before any but the first are read.

        `attributes`: what is read beside the fixed columns.  `copies`: how often the events are held at once,
        with what is computed of them.  `memory`, `purpose`: how much there is, and what needs them all: a
        subject, such as `inspect`.  `fewer`: how to have fewer events at once.

        Raises
        ------
        QueryTooLargeError
            With the number of events and the memory that they would take.
        """
        counts = [events_held(dataset) for dataset in self.datasets]
        needed = copies * sum(
            count * bytes_of_event(dataset, attributes)
            for count, dataset in zip(counts, self.datasets, strict=True)
        )
        if needed > memory.own:
            # Rounded up: a user types what is written here.
            enough = max(-(-(needed + memory.program) // _ADVISED_BYTES) * _ADVISED_BYTES, memory.least)
            raise QueryTooLargeError(
                f"{purpose} holds all {sum(counts):,} events at once, which takes about {size_text(needed)} "
                f"of memory, and {size_text(memory.own)} are available; raise --max-memory "
                f"to {size_text(enough)}, or {fewer}"
            )

    def read_ids(self, ids: pa.Array, attributes: Sequence[str]) -> pa.Table:
        """The events with these ids (strings, each once) as a table like that of `read`."""
        wanted = pc.field("event_id").isin(ids)
        datasets = self._with_attributes(attributes).datasets
        tables = [_events(dataset, attributes, self.schema, wanted) for dataset in datasets]
        table = pa.concat_tables(tables)
        order = pc.sort_indices(table, sort_keys=[("lower", "ascending"), ("event_id", "ascending")])
        return table.take(order).combine_chunks()

    def observed_until(self) -> int | None:
        """The last tick until which the events tell what happened; None where there are none.

        That is the last one of all events, unless a dataset says otherwise of its own.
        """
        found = []
        for place, (dataset, source) in enumerate(zip(self.datasets, self.sources(()), strict=True)):
            ticks = [group.last_tick for group in replace(source, only=None).row_groups(place) if group.rows]
            if dataset.left_behind is not None and dataset.left_behind.events:
                left = np.array([dataset.left_behind.last_tick])
                ticks.extend(last_tick(left, dataset.time_unit, self.schema.time_unit).tolist())
            if ticks:
                latest = max(ticks)
                said = dataset.observed
                found.append(latest if said is None else said.last_tick(latest, self.schema.time_unit))
        return max(found, default=None)

    def sources(self, attributes: Sequence[str]) -> list[StoredEvents]:
        """The inputs with these attributes as tasks read them, in the units and types of `schema`."""
        having = self._with_attributes(attributes)
        sources = [
            (ArrowEvents if dataset.in_arrow else StoredEvents).of(
                dataset, self.schema, attributes, own_disk=dataset is having.temporary
            )
            for dataset in having.datasets
        ]
        if self.only is None:
            return sources
        return [replace(each, only=only) for each, only in zip(sources, self.only, strict=True)]


@contextmanager
def open_events(
    paths: Sequence[str],
    options: IngestOptions | None = None,
    memory: MemoryBudget | None = None,
    *,
    in_arrow: bool = False,
    needed: Needed | None = None,
) -> Iterator[EventInputs]:
    r"""Open datasets, plain event files and raw logs for one query.

    Raw input is ingested (by this process, within the `memory`) into a temporary directory, which is gone
    when the context ends; what is small is kept `in_arrow` where that is asked for.
    Of much that is alone, what is not `needed` is left behind.  `-` is standard input.

    Raises
    ------
    EventSchemaError
        If a dataset is incomplete (it has no completion marker) or an input is not an event file.
    LogFormatError
        If an input is missing, damaged beyond what is allowed, or of no known format.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "events.csv")
    >>> _ = file.write_text("event_type,lower,upper,task\nA,1,5,t1\n")
    >>> with open_events([str(file)]) as events:
    ...     events.read(["task"]).select(["event_id", "lower", "task"]).to_pylist()
    [{'event_id': 'events.csv#1', 'lower': 1, 'task': 't1'}]
    """
    opened = [(path, stored_dataset(path)) for path in dict.fromkeys(paths)]
    stored = [dataset for _, dataset in opened if dataset is not None]
    raw = [path for path, dataset in opened if dataset is None]
    summary = ingested = read_whole = None
    with ExitStack() as opened_folders:
        if raw:
            # Datasets alone need no reader of logs, and importing them all takes a while.
            from cepctl.ingestion.jobs import ingest
            from cepctl.ingestion.options import IngestOptions

            output = str(opened_folders.enter_context(temporary_folder()) / "events")
            chosen = replace(options or IngestOptions(), read_once=True, in_arrow=in_arrow)
            chosen = replace(chosen, needed=None if stored or not _may_be_read_again(raw, chosen) else needed)
            if memory is not None:
                chosen = replace(chosen, memory=memory.for_reading)
            summary = ingest(raw, output, chosen)
            ingested = temporary_dataset(output)
            stored.append(ingested)
            # Once, however often it is asked for.
            read_whole = cache(partial(_read_whole, tuple(raw), chosen, opened_folders))
        schema = _common_schema(stored)
        if options is not None and options.writers == ():
            schema = schema.without_order()
        yield EventInputs(tuple(stored), schema, summary, ingested, read_whole=read_whole)


def _may_be_read_again(raw: Sequence[str], options: IngestOptions) -> bool:
    """Whether raw input can be read twice, and nothing is said in which an event matters to all others."""
    streams = any(path == STANDARD_INPUT or is_stream(path) for path in raw)
    return not (streams or options.model.given or options.model.laws)


def _read_whole(raw: Sequence[str], options: IngestOptions, opened: ExitStack) -> StoredDataset:
    """The dataset of raw input with all its events, as long as `opened` is."""
    from cepctl.ingestion.jobs import ingest

    output = str(opened.enter_context(temporary_folder()) / "events")
    ingest(raw, output, replace(options, needed=None))
    return temporary_dataset(output)


def read_schema(paths: Sequence[str], options: IngestOptions | None = None) -> EventSchema:
    """The schema of `open_events`, for a single look."""
    with open_events(paths, options) as events:
        return events.schema


def read_events(
    paths: Sequence[str], attributes: Sequence[str] | None = None, options: IngestOptions | None = None
) -> pa.Table:
    """The table of `open_events(...).read(attributes)`, for a single look."""
    with open_events(paths, options) as events:
        return events.read(attributes)


def _common_schema(datasets: Sequence[StoredDataset]) -> EventSchema:
    kinds: dict[str, set[Kind]] = {}
    counts: Counter[str] = Counter()
    for dataset in datasets:
        counts.update(dataset.type_counts)
        for column in dataset.schema:
            if is_attribute(column):
                kinds.setdefault(column.name, set()).add(KINDS[column.type])
    units = [dataset.time_unit for dataset in datasets]
    attributes = {name: _arrow_type(unified(kinds[name])) for name in sorted(kinds)}
    unit = min(units, key=lambda unit: unit.microseconds)
    clocks = joined_clocks([rescaled_clocks(each.clocks, each.time_unit, unit) for each in datasets])
    lasting = any(map(some_event_lasts, datasets))
    given = tuple(dict.fromkeys(text for each in datasets for text in each.given))
    laws = _common_laws(datasets)
    ordered = [each for each in datasets if set(each.given) & set(WRITTEN_ORDERS)]
    assumed = bool(ordered) and all(each.assumes_order for each in ordered)
    apart = len(datasets) == 1 and datasets[0].in_units
    return EventSchema(
        attributes, unit, dict(sorted(counts.items())), clocks, given, lasting, laws, assumed, apart
    )


def _common_laws(datasets: Sequence[StoredDataset]) -> tuple[OrderLaw, ...]:
    """The laws of all datasets; raises EventSchemaError where two have different laws for one attribute."""
    found: dict[str, OrderLaw] = {}
    for dataset in datasets:
        for law in dataset.laws:
            if found.setdefault(law.by, law) != law:
                raise EventSchemaError(
                    f"the dataset {dataset.location.uri} keeps another law of order of each {law.by} than a "
                    "dataset before it; state one for all with --laws FILE, or leave them out with --no-laws"
                )
    return tuple(found.values())


def _arrow_type(kind: Kind) -> pa.DataType:
    return next(arrow for arrow, known in KINDS.items() if known is kind)


def _events(
    dataset: StoredDataset,
    names: Sequence[str],
    schema: EventSchema,
    wanted: pc.Expression | None,
) -> pa.Table:
    """The wanted events of one dataset (None: all) in the common time unit and types."""
    filesystem, _ = dataset.location.resolve()
    columns = _columns_of(dataset, names, schema)
    check_count(dataset.location, events_held(dataset), dataset.events)
    table = pa.concat_tables(rows_of_part(part, columns, filesystem, wanted) for part in dataset.parts)
    return common_form(table, dataset.time_unit, schema, names, dataset.clocks)


def _columns_of(dataset: StoredDataset, names: Sequence[str], schema: EventSchema) -> list[str]:
    """The fixed columns, and those of the attributes that the dataset has."""
    present = [name for name in names if name in dataset.schema.names]
    others = [name for name in fixed_columns(schema) if name not in FIXED_COLUMNS]
    fixed = [*FIXED_COLUMNS, *(name for name in others if name in dataset.schema.names)]
    return list(dict.fromkeys([*fixed, *present]))


def _refuse_duplicates(table: pa.Table) -> None:
    counts = table.group_by("event_id").aggregate([("event_id", "count")])
    repeated = counts.filter(pc.greater(counts.column("event_id_count"), 1))
    if len(repeated):
        name = pc.min(repeated.column("event_id")).as_py()
        raise EventSchemaError(
            f"{len(repeated):,} event ids occur in more than one input, such as '{name}'; ingest the inputs "
            "together, or give each event an id of its own"
        )


def _missing(name: str, schema: EventSchema) -> str:
    near = get_close_matches(name, schema.attributes, 1)
    if near:
        return f"no event has the attribute '{name}'; did you mean '{near[0]}'?"
    known = ", ".join(schema.attributes) or "none"
    return f"no event has the attribute '{name}' (attributes: {known})"
