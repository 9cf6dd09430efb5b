"""Access logs of nginx, Apache and those that write like them: one Request per line.

    layout          line
    common          CLIENT IDENTITY USER [TIME] "REQUEST" STATUS BYTES
    combined        the same, then "REFERER" "AGENT"
    with a server   SERVER:PORT before either

What a layout has behind these stays, as it is, in the attribute `extra`.  A request that is not METHOD TARGET
PROTOCOL, such as what a scanner sends, is the attribute `request`.  `-` is no value.

Times are whole seconds with their zone.  nginx writes when it has answered, Apache when the request came in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.local_instants import instants_of_shaped
from cepctl.io.contract.log_format import WRITTEN, LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.contract.shaped_times import shaped_times
from cepctl.io.contract.times import LogTime, log_time
from cepctl.io.source.event_lines import LineBatches, LineEvent, line_events, lines_fit
from cepctl.io.source.line_blocks import BLANK, SIGN, WORD, Groups, Layout
from cepctl.io.source.line_columns import LineColumns
from cepctl.io.source.plain_lines import plain_lines

REQUEST = "Request"
_SECOND = 1_000_000

_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_LINE = re.compile(
    r"(?:(\S+:\d+) )?(\S+) (\S+) ([^\[\]]+) "
    r"\[(\d{1,2})/([A-Z][a-z]{2})/(\d{4}):(\d\d):(\d\d):(\d\d) ([-+])(\d\d)(\d\d)\] "
    rf"{_QUOTED} (\d{{3}}|-) (\d{{1,18}}|-)(?: {_QUOTED} {_QUOTED})?(?:\s+(.*))?",
    re.ASCII | re.DOTALL,
)
_REQUEST = re.compile(r"([A-Z][A-Z_-]{0,30}) (\S+)(?: (HTTP/\d(?:\.\d)?))?", re.ASCII)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1
    )
}
_TEXTS = frozenset(
    ("server", "client", "identity", "user", "method", "path", "query", "protocol", "request")
) | {"referer", "agent", "extra"}
NOT_A_REQUEST = "not a line of an access log in the common or the combined format"


class AccessLog:
    """Reader of access logs."""

    def recognises(self, head: bytes) -> bool:
        return lines_fit(head, _LINE.fullmatch)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the requests of one log."""
        batches = LineBatches(source, options, report, text_columns=_TEXTS)
        return line_events(stream, batches, _request, _LAYOUTS)


def _request(line: str) -> LineEvent | str:
    found = _LINE.fullmatch(line)
    if found is None:
        return NOT_A_REQUEST
    server, client, identity, user = found.group(1, 2, 3, 4)
    request, status, size, referer, agent, extra = found.group(14, 15, 16, 17, 18, 19)
    attributes: dict[str, Value] = {
        "client": _value(client),
        "user": _value(user),
        **_asked_for(request),
        "status": None if status == "-" else int(status),
        "bytes": None if size == "-" else int(size),
        "referer": _value(referer),
        "agent": _value(agent),
    }
    # Rare ones are not columns of every log.
    rare = {"identity": _value(identity), "server": server, "extra": extra or None}
    attributes |= {name: value for name, value in rare.items() if value is not None}
    return LineEvent(REQUEST, _stamp(*found.group(5, 6, 7, 8, 9, 10, 11, 12, 13)), _SECOND, attributes)


def _asked_for(request: str) -> dict[str, Value]:
    found = _REQUEST.fullmatch(request)
    if found is None:
        return {"method": None, "path": None, "query": None, "request": _value(request)}
    path, mark, query = found[2].partition("?")
    return {"method": found[1], "path": path, "query": query if mark else None, "protocol": found[3]}


# As a line is written by browsers and servers that do nothing odd: no sign is escaped, a user is one word.
_UNQUOTED = r'[^"\\]*'
_USUAL = (
    rf"(?P<client>{WORD}) (?P<identity>{WORD}) (?P<user>[^\[\]\t\n\v\f\r ]+) \[(?P<time>[^\]]{{26}})\] "
    r'"(?P<method>[A-Z][A-Z_-]{0,30}) (?P<path>[^?"\\\t\n\v\f\r ]+)(?:\?(?P<query>[^"\\\t\n\v\f\r ]*))?'
    r'(?: (?P<protocol>HTTP/[0-9](?:\.[0-9])?))?" (?P<status>[0-9]{3}|-) (?P<bytes>[0-9]{1,18}|-)'
    rf'(?: "(?P<referer>{_UNQUOTED})" "(?P<agent>{_UNQUOTED})"(?:{BLANK}+(?P<extra>{SIGN}.*))?)?'
)


def _requests(groups: Groups) -> LineColumns:
    """As `_request`, of lines of a layout."""
    times = shaped_times(groups["time"], "dd/bbb/YYYY:HH:MM:SS zzzzz")
    said = {
        name: pc.if_else(pc.is_in(groups[name], _NO_VALUES), pa.scalar(None, pa.string()), groups[name])
        for name in ("client", "user", "identity", "status", "bytes", "referer", "agent")
    }
    rare = {"identity": said.pop("identity")}
    rare |= {name: groups[name] for name in ("server", "extra") if name in groups}
    plain = {name: groups[name] for name in ("method", "path", "query", "protocol")}
    numbers = {name: said[name].cast(pa.int64()) for name in ("status", "bytes")}
    types = pa.repeat(pa.scalar(REQUEST, pa.string()), len(times.read))
    instants = instants_of_shaped(times, None)
    return LineColumns(types, times, instants, {**said, **plain, **numbers}, rare)


_NO_VALUES = pa.array(["", "-"])
_LAYOUTS = tuple(
    Layout(expression, _requests) for expression in (_USUAL, rf"(?P<server>[^:\t\n\v\f\r ]+:[0-9]+) {_USUAL}")
)


def _value(text: str | None) -> str | None:
    return None if text in (None, "", "-") else text


@lru_cache(maxsize=4096)
def _stamp(
    day: str, month: str, year: str, hour: str, minute: str, second: str, sign: str, hours: str, minutes: str
) -> LogTime | None:
    """The instant; second 60 is the second after 59, as elsewhere.  None for a time that no calendar has."""
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    leap = second == "60"
    try:
        zone = timezone(-offset if sign == "-" else offset)
        moment = datetime(
            int(year), _MONTHS.get(month, 0), int(day), int(hour), int(minute), 59 if leap else int(second)
        )
        return log_time(moment.replace(tzinfo=zone) + timedelta(seconds=leap), None)
    except (ValueError, OverflowError):
        return None


FORMAT = LogFormat(
    name="access",
    description="access logs of nginx, Apache and others, common or combined",
    events="Request; client, user, method, path, query, status, bytes, referer, agent",
    uncertainty="1 s, as written; nginx stamps the end of a request, Apache its beginning",
    example=(
        '198.51.100.7 - ann [14/Jun/2026:08:15:04 +0200] "GET /orders?page=1 HTTP/1.1" 200 20 "-" "curl/8"\n'
    ),
    page="logs-web.md",
    appended=True,
    reader=AccessLog(),
    options={"exact_times": WRITTEN},
    lines=plain_lines,
)
