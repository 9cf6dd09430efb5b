"""Logs of containers: lines of output, pieces that are put together, and what the path tells."""

from __future__ import annotations

import io
from typing import Any

import pytest

from cepctl.io.containers.origin import container_origin
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_named
from tests.small_logs import SMALL_LOGS

POD = "pods/shop_api-7d9_0f5c8a52-1/web/0.log"


def read(
    name: str, text: bytes, options: ReadOptions | None = None
) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    batches = format_named(name).reader.read(io.BytesIO(text), POD, options or ReadOptions(), report)
    return [event for batch in batches for event in batch.to_pylist()], report


def test_pieces_of_a_line_are_one_event_at_the_first_of_them_and_streams_may_take_turns() -> None:
    events, report = read("cri", SMALL_LOGS["cri"][1])
    assert [(event["number"], event["stream"], event["message"]) for event in events] == [
        (1, "stdout", "ready"),
        (3, "stdout", "meanwhile"),
        (2, "stderr", "a long line"),
    ]
    assert {(event["namespace"], event["pod"], event["container"]) for event in events} == {
        ("shop", "api-7d9", "web")
    }
    assert report.records == 3


def test_docker_cuts_lines_without_saying_so_and_adds_attributes() -> None:
    events, _ = read("docker", SMALL_LOGS["docker"][1])
    assert [(event["number"], event["message"], event["tier"]) for event in events] == [
        (1, "ready", None),
        (2, "half whole", "web"),
    ]


def test_a_line_whose_last_piece_is_missing_is_kept_and_noted() -> None:
    events, report = read("cri", b"2026-06-14T06:15:05Z stdout P half")
    assert [event["message"] for event in events] == ["half"]
    assert report.notes == {"lines of output whose last piece is missing, kept as far as they go: {:,}": 1}


@pytest.mark.parametrize(
    ("name", "line", "cause"),
    [
        ("cri", b"2026-06-14T06:15:05Z stdin F x", "not a line of a CRI log: TIME stdout|stderr F|P TEXT"),
        ("cri", b"2026-06-31T06:15:05Z stdout F x", "no time"),
        ("docker", b'{"log": 1}', "not a line of a Docker log: a JSON object with log, stream and time"),
        ("docker", b'{"log": "x\\n", "stream": "stdout", "time": "soon"}', "no time"),
    ],
)
def test_what_is_no_line_of_a_log_is_a_reject(name: str, line: bytes, cause: str) -> None:
    events, report = read(name, line)
    assert (events, [(reject.line, reject.cause) for reject in report.rejects]) == ([], [(1, cause)])


def test_patterns_name_the_type_of_a_line() -> None:
    pattern = LogPattern("Ready", r"^ready(?: on :(?P<port>\d+))?", (), None, ("port",))
    events, _ = read("cri", SMALL_LOGS["cri"][1], ReadOptions(patterns=(pattern,)))
    assert [event["event_type"] for event in events] == ["Ready", "LogLine", "LogLine"]


def test_other_paths_tell_what_they_can() -> None:
    number = "0123456789abcdef" * 4
    assert container_origin(f"containers/{number}/{number}-json.log") == {"container_id": number}
    assert container_origin(f"api-7d9_shop_web-{number}.log") == {
        "pod": "api-7d9",
        "namespace": "shop",
        "container": "web",
        "container_id": number,
    }
