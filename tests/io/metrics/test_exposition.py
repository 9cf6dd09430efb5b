"""Samples of Prometheus: types are metrics, and without times they are refused by name."""

from __future__ import annotations

import io
from typing import Any

import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_named, recognised_format

TEXT = (
    "# HELP up Whether it is.\n"
    "# TYPE up gauge\n"
    'up{instance="a:80",said="x\\"y\\nz"} 1 1781417704250\n'
    "\n"
    "load1 -0.5e-1 1781417705000\n"
)


def read(text: str, **chosen: Any) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    batches = format_named("prometheus").read(
        io.BytesIO(text.encode()), "a.prom", ReadOptions(**chosen), report
    )
    return [event for batch in batches for event in batch.to_pylist()], report


def test_a_sample_is_an_event_of_its_metric() -> None:
    assert recognised_format(TEXT.encode(), "a.prom").name == "prometheus"
    (up, load), report = read(TEXT)
    assert (up["event_type"], up["instance"], up["said"], up["value"]) == ("up", "a:80", 'x"y\nz', 1.0)
    assert (load["event_type"], load["value"], load["instance"]) == ("load1", -0.05, None)
    assert (str(up["time"]), up["after"], up["number"]) == ("2026-06-14 06:15:04.250000+00:00", 999, 3)
    assert not report.rejects


@pytest.mark.parametrize(
    ("written", "instant", "after"),
    [("1781417704", "06:15:04", 999_999), ("1781417704.5", "06:15:04.500000", 99_999)],
)
def test_openmetrics_writes_seconds(written: str, instant: str, after: int) -> None:
    (event,), _ = read(f'# TYPE up gauge\nup 1 {written} # {{trace_id="a"}} 1\n# EOF\n')
    assert (str(event["time"]), event["after"]) == (f"2026-06-14 {instant}+00:00", after)


@pytest.mark.parametrize("value", ["+Inf", "-Inf", "NaN"])
def test_values_may_be_no_numbers(value: str) -> None:
    (event,), _ = read(f"up {value} 1781417704250\n")
    assert str(event["value"]).lower() == value.lower().removeprefix("+")


def test_what_an_exporter_shows_is_refused_by_name() -> None:
    with pytest.raises(
        LogFormatError, match=r"a\.prom: these are metrics of Prometheus without times, .*/federate"
    ):
        read('# TYPE up gauge\nup{a="b"} 1\n')


def test_one_sample_without_a_time_costs_itself_alone() -> None:
    events, report = read(f"{TEXT}alone 7\nno sample\n")
    assert len(events) == 2
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (6, "no time: the sample has none"),
        (7, 'not a sample of Prometheus: NAME{LABEL="..."} VALUE TIME'),
    ]
