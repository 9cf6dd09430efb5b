"""Damaged logs and wrong patterns end in events, rejects or a documented error, and end soon."""

from __future__ import annotations

import io
import warnings

from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import CepctlError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.log4j.lines import BLOCK_BYTES
from cepctl.io.log4j.log import SWALLOWED
from cepctl.io.log4j.patterns import parse_patterns
from tests.log4j_logs import CONSOLE, CONTAINER, DAEMON, OLD_HDFS, READER, TRACE

LOG = "\n".join(
    [
        CONTAINER,
        DAEMON,
        TRACE,
        CONSOLE,
        OLD_HDFS,
        "2015-10-25 02:30:00.000 WARN  [a] b] x.TaskAttemptImpl: attempt_1_0042_m_000001_0 TaskAttempt "
        "Transitioned from NEW to RUNNING",
        "081109 203518 143 INFO dfs.DataNode$DataXceiver: Receiving block blk_-16 src: /n:5 dest: /[::1]:6",
        "17/06/09 20:10:40 WARN util.RackResolver: Resolved für.example.com:x to /r1",
        "",
    ]
).encode()
PATTERNS = b"""
[[pattern]]
event_type = "Seen"
logger = ["*", "[a-"]
level = "INFO"
regex = '(?P<node>h)(?P<time>\\S+)?'
"""
BITS = (b"\r", b"\n", b"\0", b"[", b"] ", b": ", b"\xff", "\u2028".encode(), b"2015-10-18 18:01:47,978 INFO ")


@st.composite
def mutated(draw: st.DrawFn, sample: bytes, bits: tuple[bytes, ...]) -> bytes:
    """The sample with some bytes changed, cut out or repeated, and some of the bits put in."""
    content = bytearray(sample)
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(content)))
        stop = draw(st.integers(start, min(start + 80, len(content))))
        taken = bytes(content[start:stop])
        content[start:stop] = draw(st.sampled_from((b"", taken * 2, *bits)) | st.binary(max_size=8))
    return bytes(content[: draw(st.integers(0, len(content)))] if draw(st.booleans()) else content)


@given(mutated(LOG, BITS), st.booleans(), st.sampled_from([None, "Europe/Berlin", "Asia/Kolkata"]))
def test_a_mutated_log_gives_events_and_rejects_and_accounts_for_every_record(
    content: bytes, keep: bool, zone: str | None
) -> None:
    report = ReadReport()
    options = ReadOptions(zone, drop_domain=True, keep_unmatched=keep)
    READER.recognises(content)
    batches = list(READER.read(io.BytesIO(content), "hadoop-x-datanode-n.log", options, report))
    for batch in batches:
        batch.validate(full=True)
    events = sum(batch.num_rows for batch in batches)
    # What stands in another record is none of its own.
    bad = sum(reject.cause != SWALLOWED for reject in report.rejects)
    assert events + sum(report.skipped.values()) + bad == report.records
    assert report.records <= content.count(b"\n") + 2


@given(mutated(PATTERNS, (b"(", b")", b"(?P<x>", b"\\", b"[", b"*", b"'", b'"""', b"= 3", b"{99}", b"\\C")))
def test_mutated_patterns_are_refused_or_they_run(text: bytes) -> None:
    try:
        patterns = parse_patterns(text, "p.toml")
    except CepctlError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for batch in READER.read(io.BytesIO(LOG), "a.log", ReadOptions(patterns=patterns), ReadReport()):
            batch.validate(full=True)


def test_a_header_without_end_is_no_header() -> None:
    report = ReadReport()
    content = DAEMON.encode() + b"\n2015-10-18 18:01:47,978 INFO [" + b"x" * (BLOCK_BYTES + 9) + b"] a.B: z\n"
    options = ReadOptions(keep_unmatched=True)
    rows = [
        row
        for batch in READER.read(io.BytesIO(content), "a.log", options, report)
        for row in batch.to_pylist()
    ]
    assert [row["logger"] for row in rows] == ["org.apache.hadoop.Some"]
    assert rows[0]["message"].startswith("hello\n2015-10-18 18:01:47,978 INFO [xxx")
