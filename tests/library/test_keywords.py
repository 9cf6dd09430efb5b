"""Errors of the library name its keywords, whatever the command line calls them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import cepctl
from cepctl.library.keywords import in_keywords
from cepctl.library.options import keywords

CALLS = (cepctl.match, cepctl.ingest, cepctl.assign, cepctl.inspect, cepctl.explain, cepctl.sketch,
         cepctl.probe, cepctl.derive, cepctl.follows, cepctl.export_xes, cepctl.calibrate,
         cepctl.learn)  # fmt: skip


def test_keywords_are_those_of_the_calls() -> None:
    assert {"top_k", "sketch_on", "share", "by", "format", "input_format", "drop_domain"} <= keywords()
    assert keywords().isdisjoint({"query", "events", "state"})


def test_no_call_is_imported_before_there_is_an_error() -> None:
    program = "import sys, cepctl.library.match; print('cepctl.library.derive' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "False\n"


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_every_call_tells_its_errors_in_keywords(call: object) -> None:
    assert hasattr(call, "__wrapped__")


def test_a_column_that_is_missing_is_named_by_map() -> None:
    with pytest.raises(cepctl.CepctlError) as raised:
        cepctl.match("PATTERN SEQ(A a, B b)", pa.table({"kind": ["A"], "when": [1]}), runner="local")
    assert "--" not in str(raised.value)
    assert "map={'event_type': " in str(raised.value)


def test_too_many_matches_are_told_by_keywords(tmp_path: Path) -> None:
    events = pa.table({"event_type": ["A", "B", "B"], "lower": [1, 3, 4], "upper": [1, 3, 4]})
    with pytest.raises(cepctl.CepctlError, match="top_k, or raise the cap with max_matches"):
        cepctl.match("PATTERN SEQ(A a, B b)", events, max_matches=1, runner="local")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("raise --max-memory", "raise max_memory"),
        ("--map EVENT=COL, --time-format", "map={'EVENT': 'COL'}, time_format"),
        ("--map event_type=kind,time=when (so)", "map={'event_type': 'kind', 'time': 'when'} (so)"),
        ("""--map '"event_type=a, b",time=the time'""", "map={'event_type': 'a, b', 'time': 'the time'}"),
        ("--state keeps it", "--state keeps it"),
        ("write --epoch YEAR-01", "write epoch=YEAR-01"),
        ("use --engine event, fewer events", "use engine=event, fewer events"),
        ("--format lines (--input-format in match)", "format=lines (input_format in match)"),
        ("--by host: no event has it", "by host: no event has it"),
    ],
)
def test_options_become_keywords(text: str, told: str) -> None:
    assert in_keywords(text) == told
