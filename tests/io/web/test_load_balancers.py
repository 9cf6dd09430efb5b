"""Access logs of load balancers: both kinds are requests, and no programs of syslog."""

from __future__ import annotations

import io
from typing import Any

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_named, recognised_format

CLASSIC = (
    "2026-06-14T08:15:04.945958Z shop 198.51.100.7:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "
    '"GET http://shop.example:80/a HTTP/1.1" "curl/8" - -'
)
APPLICATION = (
    "https 2026-06-14T08:15:05.102417Z app/shop/50dc 198.51.100.9:3301 - -1 -1 -1 502 - 34 366 "
    '"GET https://shop.example:443/b HTTP/2.0" "curl/8" ECDHE TLSv1.2 arn:aws:x "Root=1-5" "-" "-" 0 '
    '2026-06-14T08:15:04.364000Z "forward" "-"'
)


def read(text: str) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    batches = format_named("elb").read(io.BytesIO(text.encode()), "a.log", ReadOptions(), report)
    return [event for batch in batches for event in batch.to_pylist()], report


def test_both_kinds_are_recognised() -> None:
    for line in (CLASSIC, APPLICATION):
        assert recognised_format(f"{line}\n".encode(), "a.log").name == "elb"


def test_a_line_is_a_request_with_what_it_took() -> None:
    (classic, application), report = read(f"{CLASSIC}\n{APPLICATION}\n")
    assert (classic["event_type"], str(classic["time"])) == ("Request", "2026-06-14 08:15:04.945958+00:00")
    assert (classic["method"], classic["url"]) == ("GET", "http://shop.example:80/a")
    assert (classic["backend"], classic["backend_processing_time"]) == ("10.0.0.1:80", 0.001048)
    assert (classic["status"], classic["sent_bytes"], classic["extra"]) == (200, 29, None)
    assert (application["kind"], application["backend"]) == ("https", None)
    assert (application["backend_processing_time"], application["backend_status"]) == (None, None)
    assert application["extra"].startswith('arn:aws:x "Root=1-5" "-" "-" 0 2026')
    assert application["request_creation_time"] == "2026-06-14T08:15:04.364000Z"
    assert not report.rejects


def test_what_a_scanner_sends_is_kept_as_it_is() -> None:
    (event,), _ = read(CLASSIC.replace("GET http://shop.example:80/a HTTP/1.1", "- - - ") + "\n")
    assert (event["request"], event["method"], event["url"]) == ("- - - ", None, None)


def test_any_other_line_is_a_reject() -> None:
    events, report = read(f"{CLASSIC}\n2026-06-14T08:15:05Z shop cut\n")
    assert len(events) == 1
    assert [reject.cause for reject in report.rejects] == ["not a line of an access log of a load balancer"]
