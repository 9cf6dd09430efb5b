"""The template of a message as an attribute, where the type of an event is the program that wrote it.

    event_type   message                               becomes
    sshd         Failed none for ann from 10.0.0.7     template = Failed none for, v1 = ann, ip = 10.0.0.7

Templates are those of the first lines of all messages, whatever program wrote them.  An event that a pattern
of the user fits has what that says, and no template.  What varies keeps out of the way of the attributes that
the format has anyway, by a number behind its name; of any other that a record has itself it leaves the value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.batches import INFERRED, column_name
from cepctl.io.contract.message_template import TEMPLATE, UNTEMPLATED
from cepctl.io.contract.reader import Reader, ReadOptions, ReadReport
from cepctl.io.templates.first_lines import first_lines
from cepctl.io.templates.matching import NONE
from cepctl.io.templates.variables import TemplateTable

_MESSAGE = "message"


@dataclass(frozen=True)
class TemplatedReader:
    """A reader whose events get their template, once templates are known.

    Attributes
    ----------
    reader
        Gives the events, those with a message as the attribute `message`.
    taken
        The attributes that the format itself has.
    """

    reader: Reader
    taken: frozenset[str]

    def recognises(self, head: bytes) -> bool:
        return self.reader.recognises(head)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one file; raises as the reader does."""
        batches = self.reader.read(stream, source, options, report)
        if not options.templates:
            yield from batches
            return
        table = TemplateTable(options.templates)
        of_patterns = pa.array([each.event_type for each in options.patterns], pa.string())
        for batch in batches:
            yield self._with_templates(batch, table, of_patterns, report)

    def messages(self, stream: IO[bytes], source: str, options: ReadOptions) -> Iterator[pa.Array]:
        """As `LogFormat.messages`, of a format whose messages the reader alone can tell."""
        of_patterns = pa.array([each.event_type for each in options.patterns], pa.string())
        for batch in self.reader.read(stream, source, options, ReadReport()):
            found = _untyped(batch, of_patterns)
            if found is not None:
                yield first_lines(found.drop_null())

    def _with_templates(
        self, batch: pa.RecordBatch, table: TemplateTable, of_patterns: pa.Array, report: ReadReport
    ) -> pa.RecordBatch:
        messages = _untyped(batch, of_patterns)
        if messages is None:
            return batch
        said = first_lines(messages)
        _, found, place = table.typed(pc.fill_null(said, ""))
        known = (place != NONE) & said.is_valid().to_numpy(zero_copy_only=False)
        names = pa.array([each.event_type for each in table.templates], pa.string())
        templates = names.take(pa.array(place, mask=~known))
        unknown = templates.null_count - said.null_count
        if unknown:
            report.notes[UNTEMPLATED] += unknown
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        inferred = dict(zip(batch.schema.names, (each.metadata for each in batch.schema), strict=True))
        # A field of the log's own that has the name keeps it.
        columns[TEMPLATE if TEMPLATE not in columns else f"{TEMPLATE}_2"] = templates
        for name, values in found.items():
            column = column_name(name if name not in self.taken else f"{name}_2")
            own = columns.get(column, pa.nulls(len(batch), pa.string()))
            if pa.types.is_null(own.type) or pa.types.is_string(own.type):
                columns[column] = pc.coalesce(own.cast(pa.string()), values)
                inferred[column] = INFERRED
        fields = [pa.field(name, each.type, metadata=inferred.get(name)) for name, each in columns.items()]
        schema = pa.schema(fields, metadata=batch.schema.metadata)
        return pa.RecordBatch.from_arrays(list(columns.values()), schema=schema)


def _untyped(batch: pa.RecordBatch, of_patterns: pa.Array) -> pa.Array | None:
    """The messages of events, null where a pattern gave the type; None where there are none at all."""
    if _MESSAGE not in batch.schema.names:
        return None
    messages = batch.column(_MESSAGE)
    if not pa.types.is_string(messages.type):
        return None
    if len(of_patterns):
        typed = pc.is_in(batch.column("event_type"), of_patterns)
        messages = pc.if_else(typed, pa.scalar(None, pa.string()), messages)
    return messages if messages.null_count < len(messages) else None
