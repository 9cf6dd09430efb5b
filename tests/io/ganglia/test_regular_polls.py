"""What expat reads of a poll and leaves to libxml2 makes no difference to events and report."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepctl.errors import CepctlError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.ganglia.gmond_xml import GangliaXml
from cepctl.io.ganglia.poll_recovery import RecoveredPoll
from cepctl.io.ganglia.regular_polls import RegularPoll

SAMPLE = Path(__file__).parents[3] / "sample_data" / "logs" / "gmond-1.xml"
GRIDS = b"""<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>
<!DOCTYPE GANGLIA_XML [
   <!ELEMENT GANGLIA_XML (GRID|CLUSTER|HOST)*>
      <!ATTLIST METRIC SOURCE (gmond) 'gmond'>
]>
<GANGLIA_XML VERSION="3.7.2" SOURCE="gmetad"><GRID NAME="outer"
 AUTHORITY="x"><GRID NAME="&quot;inner&quot; &lt;&#10;">
<CLUSTER NAME="c"><HOSTS UP="2" DOWN="0" SOURCE="gmetad"/><METRICS NAME="a" SUM="3" NUM="1"/>
<HOST NAME="n1" IP="10.0.0.1" REPORTED="100000" TN="3">
<METRIC NAME="a" VAL="1" TN="0" TMAX="60"><EXTRA_DATA><EXTRA_ELEMENT NAME="GROUP" VAL="cpu"/>
<EXTRA_ELEMENT NAME="GROUP" VAL="other"/></EXTRA_DATA></METRIC>
<METRIC name="b" val=" 1_0 " type="int8" tn="1" tmax="20"/>
<METRIC NAME="c" VAL="Z\xfcrich &#228;" TYPE="string" UNITS=" x " TN="2" TMAX="20"
 SLOPE="zero"></METRIC>
</HOST><HOST NAME="n2" REPORTED="100000" TN="0"/></CLUSTER></GRID>
<METRICS NAME="a" SUM="4" NUM="2" TYPE="int8"/>
<CLUSTER NAME="d"><HOST NAME="n2" REPORTED="100000" TN="0"><METRIC NAME="a" VAL="1" TN="0"/></HOST></CLUSTER>
</GRID></GANGLIA_XML>
"""
# Where they stand decides what they do: to tags, to attributes, to texts, to the document type.
ODD = [
    b"&amp;", b"&#10;", b"\r\n", b"\xa0", b"&x;", b"%x;", b"<!-- -->", b"<![CDATA[ ]]>", b"<?p?>",
    b" xmlns='u'",
    b" a:b='c'", b" name='q'", b" VAL='w'", b"<FOO/>", b"text", b"<", b">", b"/>", b"</METRIC>", b"</HOST>",
    b"<METRIC/>", b"<METRIC NAME='m' VAL='1' TN='1'/>", b"<HOST NAME='h' REPORTED='5000' TN='1'>",
    b"<EXTRA_ELEMENT NAME='GROUP'/>", b"<METRICS/>", b"<!ATTLIST METRIC VAL CDATA '7'>", b"SYSTEM 'x'",
    b"</GANGLIA_XML>", b"<?xml", b"\0", b"'", b'"',
]  # fmt: skip


class Dripping(io.BytesIO):
    """A stream that hands over so many bytes at a time."""

    def __init__(self, content: bytes, size: int) -> None:
        super().__init__(content)
        self.size = size

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read(self.size)


def read(content: bytes, size: int = 1 << 16) -> tuple[Any, ...]:
    """Events and report, or what is said of a file that is refused."""
    report = ReadReport()
    try:
        batches = list(GangliaXml().read(Dripping(content, size), "poll.xml", ReadOptions(), report))
    except CepctlError as error:
        return (str(error),)
    events = pa.Table.from_batches(batches).to_pylist() if batches else []
    # Damage is told as it is found, samples that are none when they are read.
    rejects = sorted(report.rejects, key=lambda reject: (reject.line or 0, reject.cause))
    return events, report.records, report.skipped, rejects, report.warnings, report.notes


def by_libxml2(content: bytes) -> tuple[Any, ...]:
    """The same, where nothing at all is left to expat."""

    def wait(poll: RegularPoll, data: bytes, *, last: bool = False) -> bool:
        poll._content += data
        return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RegularPoll, "read", wait)
        return read(content)


@st.composite
def odd_polls(draw: st.DrawFn) -> bytes:
    content = draw(st.sampled_from([GRIDS, GRIDS * 2]))
    for _ in range(draw(st.integers(1, 3))):
        begin = draw(st.sampled_from([b"<", b">", b'"', b" ", b"\n", b"=", b""]))
        place = max(content.find(begin, draw(st.integers(0, len(content)))), 0) + draw(st.integers(0, 1))
        left_out = draw(st.sampled_from([0, 0, 0, 1, 5, 60]))
        content = content[:place] + draw(st.sampled_from(ODD)) + content[place + left_out :]
    return content


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(content=odd_polls(), size=st.sampled_from([1 << 16, 301, 64]))
def test_odd_polls_read_alike_wherever_expat_stops(content: bytes, size: int) -> None:
    assert read(content, size) == by_libxml2(content)


@pytest.mark.parametrize("size", [1 << 16, 1_000, 7])
def test_regular_polls_read_alike_and_without_libxml2(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    content = GRIDS + SAMPLE.read_bytes()[:20_000].rpartition(b"<?xml")[0]
    expected = by_libxml2(content)
    monkeypatch.delattr(RecoveredPoll, "read")
    assert read(content, size) == expected
    assert len(expected[0]) > 30


def test_what_stood_before_the_damage_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    host = b'<HOST NAME="h" REPORTED="5000" TN="1">'
    metrics = b"".join(b'<METRIC NAME="m%d" VAL="1" TN="1"/>\n' % number for number in range(5_000))
    whole = b'<GANGLIA_XML VERSION="3" SOURCE="s"><CLUSTER NAME="c">' + host + metrics
    content = whole + b"<METRIC NAME='odd' VAL='A & B' TYPE='string'/></HOST></CLUSTER></GANGLIA_XML>"
    handed: list[int] = []
    take_over = RecoveredPoll.read

    def noting(poll: RecoveredPoll, data: bytes, *, last: bool = False) -> None:
        handed.append(len(data))
        take_over(poll, data, last=last)

    monkeypatch.setattr(RecoveredPoll, "read", noting)
    events, *_, warnings, _ = read(content, 10_000)
    assert sum(handed) < 25_000 < len(content)
    assert len(events) == 5_001
    assert warnings[0].startswith("damaged XML, read as far as it goes; the first damage is at line 5001: ")
