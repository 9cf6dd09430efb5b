"""Job history of Hadoop 2 and 3 (`.jhist`), in its JSON and in its binary form.

Which records become which events, with which attributes, is the table of events.py; how the records
are written is in jhist_json.py and jhist_binary.py.  Task records name no host: that of an attempt
that may come later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.hadoop.events import EVENTS, OPTIONS
from cepctl.io.hadoop.held_back import history_events
from cepctl.io.hadoop.jhist_binary import read_binary_records
from cepctl.io.hadoop.jhist_json import BOM, MAGIC, MAGIC_BINARY, read_records
from cepctl.io.hadoop.records import Record
from cepctl.io.source.streams import Chunks

_FIRST_BYTES = 1 << 10


class HadoopJobHistory:
    """Reader of `.jhist` files, Avro-Json and Avro-Binary."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the first line."""
        return head.removeprefix(BOM).lstrip().startswith((MAGIC, MAGIC_BINARY))

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one job history; see hadoop_events.py for what becomes an event.

        Raises
        ------
        LogFormatError
            If the first line is neither `Avro-Json` nor `Avro-Binary`, or a binary history has no
            usable schema.
        """

        def records(copy: IO[bytes], notes: ReadReport) -> Iterator[Record]:
            first = copy.read(_FIRST_BYTES).removeprefix(BOM).lstrip()
            copy.seek(0)
            if first.startswith(MAGIC_BINARY):
                return read_binary_records(copy, source, notes)
            if not first.startswith(MAGIC):
                raise LogFormatError(
                    f"{source}:1: not a job history: the first line must be Avro-Json or Avro-Binary"
                )
            return read_records(Chunks(copy), source, notes)

        yield from history_events(Chunks(stream), records, source, options, report)


FORMAT = LogFormat(
    name="jhist",
    description="Hadoop 2 and 3 job history (.jhist, Avro-Json or Avro-Binary)",
    events=EVENTS,
    uncertainty="1 ms",
    example=(
        "Avro-Json\n"
        '{"type":"record","name":"Event","fields":[]}\n'
        '{"type":"TASK_STARTED","event":{"org.apache.hadoop.mapreduce.jobhistory.TaskStarted":'
        '{"taskid":"task_1772009204117_0042_m_000000","taskType":"MAP","startTime":1781417704000,"splitLocations":"n7"}}}\n'
    ),
    page="logs-hadoop.md",
    reader=HadoopJobHistory(),
    options=OPTIONS,
)
