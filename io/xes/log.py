"""Event logs in XES (IEEE 1849), read as a stream: memory does not grow with the file.

The event type is the activity (`concept:name`), `case_id` the `concept:name` of its trace.  All
attributes are kept, those that made type, time and case too; attributes of the trace get the
prefix `case:`, an attribute of an event that is named like one of these, or `case_id`, the prefix
`attr:`.  `<global>` holds defaults for editors, not events, and is left alone.

    in the log                             what becomes of it
    trace without concept:name             case_id `trace 17`, by its place in the file; a warning
    event without concept:name             rejected, with its line
    no time:timestamp, or an unusable one  rejected, with its line
    time without a zone                    read in the user's zone, else UTC; a warning
    damaged or truncated XML               read as far as it goes; one reject, with its line
    marks of uncertain times               intervals and masses (uncertain_times.py)

Elements are matched by local name: files use one of two namespaces, or none.  On request activities
become interval events (intervals.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from cepctl.io.contract.log_format import WORDED, WRITTEN, ZONELESS, LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.source.streams import Chunks
from cepctl.io.source.xml_prolog import Prolog
from cepctl.io.source.xml_stream import XmlDocument, without_comments
from cepctl.io.xes.expat_parser import read_regular
from cepctl.io.xes.recovery import recover
from cepctl.io.xes.traces import Traces

_BATCH_BYTES = 32 << 20
_FIRST_ELEMENT = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")
_BEFORE_FIRST_ELEMENT = (b"<", b"\xef\xbb\xbf<", b"\xff\xfe<", b"\xfe\xff<")


class XesLog:
    """Reader of XES event logs."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the first element: a `log`, in any namespace and encoding."""
        text = without_comments(head).lstrip()
        first = _FIRST_ELEMENT.search(text)
        return text.startswith(_BEFORE_FIRST_ELEMENT) and first is not None and first[1] == b"log"

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one log, trace by trace.

        Raises
        ------
        LogFormatError
            If the file is not XML, has another root than `log`, or declares XML entities.
        UsageError
            If the zone of the user does not exist.
        """
        traces = Traces(source, options, report)
        document = XmlDocument(Chunks(stream), Prolog("log", source))
        taken = 0
        for _ in _pauses(traces, document):
            if traces.rows.full or document.chunks.read_bytes - taken > _BATCH_BYTES:
                taken = document.chunks.read_bytes
                yield traces.rows.take()
        traces.finish()
        if len(traces.rows):
            yield traces.rows.take()


def _pauses(traces: Traces, document: XmlDocument) -> Iterator[None]:
    """Read the log, by expat as far as it is regular, and pause now and then."""
    rest = yield from read_regular(traces, document)
    if rest is not None:
        yield from recover(traces, document, rest)


FORMAT = LogFormat(
    name="xes",
    description="XES event log (IEEE 1849)",
    events="one type per activity; case_id, the attributes of event and trace; with --intervals "
    "activities from start to end",
    uncertainty="as the log marks it; else none; 1 s where no time has a fraction, one day where every time "
    "is a local midnight",
    example=(
        '<log><trace><string key="concept:name" value="case 1"/>\n'
        '<event><string key="concept:name" value="submit"/>\n'
        '<date key="time:timestamp" value="2026-06-14T08:15:04+02:00"/></event>\n'
        "</trace></log>\n"
    ),
    page="logs-xes.md",
    reader=XesLog(),
    options={"time_zone": ZONELESS, "zone_words": WORDED, "exact_times": WRITTEN, "intervals": "XES"},
    whole_days=True,
)
