r"""Access logs of Amazon's load balancers: one Request per line, at the time of the first field.

    kind          line
    classic       TIME ELB CLIENT BACKEND 3 TIMES TAKEN 2 STATUS 2 SIZES "REQUEST" "AGENT" CIPHER PROTOCOL
    application   TYPE TIME, the same from ELB to PROTOCOL, then GROUP "TRACE" "DOMAIN" ...

The time is when the classic one got the request, and when the application one had answered it.  `-`, and a
time taken of -1, are no value.  What stands behind the protocol stays, as it is, in the attribute `extra`;
when a request was created is one, too.  One that is not METHOD URL PROTOCOL is the attribute `request`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.local_instants import instants_of_shaped
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.contract.shaped_times import shaped_times
from cepctl.io.contract.times import parse_time
from cepctl.io.source.event_lines import LineBatches, LineEvent, line_events, lines_fit
from cepctl.io.source.line_blocks import SIGN, WORD, Groups, Layout
from cepctl.io.source.line_columns import LineColumns
from cepctl.io.source.plain_lines import plain_lines

REQUEST = "Request"
NOT_A_REQUEST = "not a line of an access log of a load balancer"
_TAKEN = ("request_processing_time", "backend_processing_time", "response_processing_time")
_COUNTS = ("status", "backend_status", "received_bytes", "sent_bytes")
_WORDS = ("elb", "client", "backend", "method", "url", "protocol", "agent", "ssl_cipher", "ssl_protocol")
_RARE = ("kind", "request", "extra")
_TIME = r"(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z)"
_BEFORE = (
    rf"(?:(?P<kind>https?|h2|grpcs|wss?) )?{_TIME} (?P<elb>{WORD}) (?P<client>{WORD}) (?P<backend>{WORD}) "
    + "".join(rf"(?P<{name}>-1|-|[0-9]{{1,9}}(?:\.[0-9]{{1,9}})?) " for name in _TAKEN)
    + "".join(rf"(?P<{name}>-|[0-9]{{1,18}}) " for name in _COUNTS)
)
_BEHIND = (
    r' "(?P<agent>(?:[^"\\]|\\.)*)"'
    rf"(?: (?P<ssl_cipher>{WORD}) (?P<ssl_protocol>{WORD}))?(?: +(?P<extra>{SIGN}.*))?"
)
_ASKED = r'(?P<method>[A-Z][A-Z-]{0,30}) (?P<url>[^"\\\t\n\v\f\r ]+) (?P<protocol>[A-Z]+/[0-9](?:\.[0-9])?)'
_USUAL = f'{_BEFORE}"{_ASKED}"{_BEHIND}'
_EXPRESSION = re.compile(rf'{_BEFORE}"(?P<request>(?:[^"\\]|\\.)*)"{_BEHIND}', re.ASCII | re.DOTALL)
_REQUEST = re.compile(_ASKED, re.ASCII)
_CREATED, _CREATION = "request_creation_time", r'(?:^| )(?P<created>[0-9-]{10}T[0-9:.]{8,18}Z) "'
_CREATED_AT = re.compile(_CREATION, re.ASCII)
_NO_VALUES = ("", "-", "-1")
_TEXTS = frozenset((*_WORDS, *_RARE, _CREATED))


class LoadBalancerLog:
    """Reader of access logs of load balancers."""

    def recognises(self, head: bytes) -> bool:
        return lines_fit(head, _EXPRESSION.fullmatch)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the requests of one log."""
        batches = LineBatches(source, options, report, text_columns=_TEXTS)
        return line_events(stream, batches, _request, (Layout(_USUAL, _requests),))


def _request(line: str) -> LineEvent | str:
    found = _EXPRESSION.fullmatch(line)
    if found is None:
        return NOT_A_REQUEST
    groups = found.groupdict()
    asked = _REQUEST.fullmatch(groups["request"])
    # As with other servers, what scanners send is kept as it is.
    groups |= {"request": None, **asked.groupdict()} if asked else {}
    said = {name: None if text in _NO_VALUES else text for name, text in groups.items()}
    time = parse_time(found["time"])
    attributes: dict[str, Value] = {name: said.get(name) for name in _WORDS}
    attributes |= {name: None if (text := said[name]) is None else float(text) for name in _TAKEN}
    attributes |= {name: None if (text := said[name]) is None else int(text) for name in _COUNTS}
    attributes |= {name: said[name] for name in _RARE if said[name] is not None}
    if said["extra"] is not None and (created := _CREATED_AT.search(said["extra"])) is not None:
        attributes[_CREATED] = created["created"]
    digits = len(found["time"].removesuffix("Z").partition(".")[2])
    return LineEvent(REQUEST, time, 10 ** (6 - min(digits, 6)), attributes)


def _requests(groups: Groups) -> LineColumns:
    """As `_request`, of many lines."""
    times = shaped_times(groups["time"])
    nothing = pa.array(_NO_VALUES)
    said = {
        name: pc.if_else(pc.is_in(values, nothing), pa.scalar(None, pa.string()), values)
        for name, values in groups.items()
    }
    attributes = {name: said[name] for name in _WORDS}
    attributes |= {name: said[name].cast(pa.float64()) for name in _TAKEN}
    attributes |= {name: said[name].cast(pa.int64()) for name in _COUNTS}
    types = pa.repeat(pa.scalar(REQUEST, pa.string()), len(times.read))
    rare = {name: said[name] for name in _RARE if name in said}
    created = pc.extract_regex(rare["extra"], _CREATION)
    rare[_CREATED] = pc.if_else(created.is_valid(), created.field("created"), pa.scalar(None, pa.string()))
    return LineColumns(types, times, instants_of_shaped(times, None), attributes, rare)


FORMAT = LogFormat(
    name="elb",
    description="access logs of Amazon's load balancers, classic or application",
    events="Request; elb, client, backend, method, url, status, sizes, times taken, agent",
    uncertainty="none: microseconds; classic ones stamp the request, application ones the answer",
    example=(
        "2026-06-14T08:15:04.945958Z shop 198.51.100.7:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 "
        '29 "GET http://shop.example:80/ HTTP/1.1" "curl/8" - -\n'
    ),
    page="logs-web.md",
    kinds=("Load balancers",),
    reader=LoadBalancerLog(),
    lines=plain_lines,
)
