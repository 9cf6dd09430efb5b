"""Samples from the XML that Ganglia's gmond and gmetad serve, one event per sample.

The event type is the metric's name.  Numbers stand in `value`, anything else in `value_text`;
`node`, `cluster` and `grid` say where (the innermost grid).  `stale` is true where the sample
was older than its TMAX when it was polled.  Summaries (METRICS) have no time and are skipped.

When a sample arrived
    t = HOST.REPORTED + HOST.TN - METRIC.TN, in whole seconds.  All three are rounded down, so
    the sample arrived somewhere in (t - 1 s, t + 2 s].
What its interval is by default
    [t - 1 s - TMAX, t + 2 s]: the state that the sample describes began after the collection
    before it, which was at most TMAX ago.  A missing TMAX counts as 60 s, as gmetric has it.

The same sample shows in several polls, its t shifted by at most 2 s: within a file the reader
keeps the one polled first, `drop_repeated_samples` does the same for samples of many files.
Polls are read by expat (regular_polls.py) until something is damaged or unusual, and by libxml2
from there on (poll_recovery.py).

The XML documents in a recording of Ganglia polls, one after the other.

A file may hold several polls, with whatever the recorder left between them: a telnet banner, an
HTTP header, `Connection closed by foreign host.`  A poll begins at `<?xml` (or, where that is
missing, at the document type or the root element) and ends at `</GANGLIA_XML>`; one that the
next poll interrupts, or the end of the file, is incomplete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import IO

import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_format import LogFormat, Repeats
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.ganglia.poll_recovery import RecoveredPoll
from cepctl.io.ganglia.regular_polls import RegularPoll
from cepctl.io.ganglia.sample_columns import REPEATED, SampleColumns, drop_repeated_samples
from cepctl.io.source.streams import Chunks

_BEGIN = re.compile(rb"<\?xml|<!DOCTYPE\s+GANGLIA_XML|<GANGLIA_XML")
_END = re.compile(rb"</GANGLIA_XML\s*>|<\?xml")
# Bytes held back from every chunk, so that a marker which two chunks share is still found.
_MARKER_BYTES = 64


@dataclass(frozen=True)
class PollPart:
    """Some bytes of one poll.

    Attributes
    ----------
    data
        The bytes; the parts of a poll, joined, are the poll.
    line
        Line of the file at which `data` starts, from 1.
    begins, ends
        Whether a poll begins, or ends, with this part.
    complete
        Only where `ends`: whether the poll's root element was closed.
    """

    data: bytes
    line: int
    begins: bool = False
    ends: bool = False
    complete: bool = False


def poll_parts(chunks: Iterable[bytes]) -> Iterator[PollPart]:
    """Cut a recording into the parts of its polls, leaving out what stands between them."""
    buffer, line, inside = b"", 1, False
    for chunk, last in chain(((chunk, False) for chunk in chunks), [(b"", True)]):
        buffer += chunk
        start = 0
        while marker := (_END if inside else _BEGIN).search(buffer, start):
            if not inside:
                line += buffer.count(b"\n", start, marker.start())
                part = PollPart(marker.group(), line, begins=True)
                start = marker.end()
            else:
                complete = marker.group().startswith(b"</")
                stop = marker.end() if complete else marker.start()
                part = PollPart(buffer[start:stop], line, ends=True, complete=complete)
                start = stop
            yield part
            line += part.data.count(b"\n")
            inside = not inside
        cut = len(buffer) if last else max(len(buffer) - _MARKER_BYTES, start)
        if inside and (cut > start or last):
            yield PollPart(buffer[start:cut], line, ends=last)
        line += buffer.count(b"\n", start, cut)
        buffer = buffer[cut:]


_STRANGERS = "elements and texts that Ganglia does not write, left out with their content: {:,}"


class GangliaXml:
    """Reader of recorded polls of gmond and gmetad."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the root element or the document type, whatever stands before them."""
        return b"<GANGLIA_XML" in head or b"<!DOCTYPE GANGLIA_XML" in head

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the samples of one file in the order of its polls, without repetitions.

        Raises
        ------
        LogFormatError
            If the file holds bytes but no poll, or a poll declares XML entities.
        """
        chunks = Chunks(stream)
        polls = _Polls(source, report, SampleColumns(options, report))
        for part in poll_parts(chunks):
            polls.read(part)
            if polls.columns.full:
                yield polls.columns.take()
        if polls.regular is None and chunks.read_bytes:
            raise LogFormatError(
                f"{source}: no Ganglia poll in it: a <GANGLIA_XML> element was expected; "
                "choose another --format if this is another kind of log"
            )
        if len(polls.columns):
            yield polls.columns.take()
        chunks.tell_damage(source, report, as_record=False)


@dataclass
class _Polls:
    """The polls of one file: the one that comes in, and what is known from those before it."""

    source: str
    report: ReadReport
    columns: SampleColumns
    regular: RegularPoll | None = None
    _recovered: RecoveredPoll | None = None
    _line: int = 1

    def read(self, part: PollPart) -> None:
        """Read the next part of a poll.

        Raises
        ------
        LogFormatError
            If the poll declares entities, or has no root element within 1 MiB.
        """
        if part.begins:
            known_head = None if self.regular is None else self.regular.head
            self.regular = RegularPoll(self.columns, f"{self.source}:{part.line}", known_head)
            self._recovered, self._line = None, part.line
        if self.regular is None:  # pragma: no cover - the first part of a recording begins a poll
            return
        if self._recovered is not None:
            self._recovered.read(part.data, last=part.ends)
        elif not self.regular.read(part.data, last=part.ends):
            self._recovered = RecoveredPoll(
                self.columns, self.regular.prolog, self.report, self.source, self._line
            )
            self._recovered.read(self.regular.rest(), last=part.ends)
        if part.ends:
            self._finish(part, self.regular.summaries)

    def _finish(self, part: PollPart, summaries: int) -> None:
        complaint, report = None, self.report
        if self._recovered is not None:
            complaint = self._recovered.complaint
            summaries += self._recovered.summaries
            if self._recovered.strangers:
                report.notes[_STRANGERS] += self._recovered.strangers
        if summaries:
            report.skipped["METRICS summary"] += summaries
        if not part.complete:
            line = part.line + part.data.count(b"\n")
            report.records += 1
            cause, said = "truncated poll", "the samples before it were kept"
            report.rejects.append(Reject(self.source, line, cause, said))
        elif complaint is not None and not report.warnings:
            report.warnings.append(complaint.warning)


FORMAT = LogFormat(
    name="ganglia",
    description="Ganglia XML of gmond or gmetad, one or more polls",
    events="one type per metric (cpu_user, load_one, ...); value, node, cluster",
    uncertainty="from TMAX before the sample arrived to 2 s after",
    example=(
        '<GANGLIA_XML VERSION="3.7" SOURCE="gmond">\n'
        '<CLUSTER NAME="c" LOCALTIME="1781417704"><HOST NAME="n7" REPORTED="1781417701" TN="3" TMAX="20">\n'
        '<METRIC NAME="load_one" VAL="0.46" TYPE="float" TN="12" TMAX="70"/>\n'
        "</HOST></CLUSTER></GANGLIA_XML>\n"
    ),
    page="logs-ganglia.md",
    reader=GangliaXml(),
    options={"drop_domain": "Ganglia"},
    repeats=Repeats(("node", "metric", "time", "value", "value_text"), drop_repeated_samples, REPEATED),
)
