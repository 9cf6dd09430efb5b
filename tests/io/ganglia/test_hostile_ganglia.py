"""Damaged and hostile Ganglia files give events and rejects, or an error that a user can mend; soon."""

from __future__ import annotations

import io
import time
import tracemalloc

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepctl.errors import CepctlError
from cepctl.ingestion.chunks import joined, raw_table
from cepctl.io.contract.reader import Reader, ReadOptions, ReadReport
from cepctl.io.ganglia.gmond_xml import GangliaXml
from cepctl.io.ganglia.rrd_dump import RrdDump
from cepctl.io.ganglia.rrd_file import GangliaRrd
from cepctl.io.source.locations import InputFile, Location
from tests.rrd_files import MACHINES, NAN, Ring, rrd_bytes

SECONDS = 2
RINGS = [Ring([[1.0, 2.0], [NAN, 3.0], [4.0, NAN]], newest=1), Ring([[9.0, 1.0], [8.0, 1.0]], steps=2)]
POLL = b"""<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>
<!DOCTYPE GANGLIA_XML [ <!ELEMENT GANGLIA_XML (GRID|CLUSTER|HOST)*> ]>
<GANGLIA_XML VERSION="3.7.2" SOURCE="gmetad"><GRID NAME="g" LOCALTIME="1000000"><CLUSTER NAME="c">
<HOST NAME="n7" IP="10.0.0.7" REPORTED="1000000" TN="6" TMAX="20" DMAX="0">
<METRIC NAME="cpu_user" VAL="97.5" TYPE="float" UNITS="%" TN="4" TMAX="90" DMAX="0" SLOPE="both">
<EXTRA_DATA><EXTRA_ELEMENT NAME="GROUP" VAL="cpu"/></EXTRA_DATA></METRIC>
<METRIC NAME="os" VAL="Linux" TYPE="string" UNITS="" TN="4" TMAX="90" DMAX="0" SLOPE="zero"/>
</HOST></CLUSTER><METRICS NAME="cpu_user" SUM="97.5" NUM="1" TYPE="float" UNITS="%" SLOPE="both"/>
</GRID></GANGLIA_XML>
"""
DUMP = b"""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE rrd SYSTEM "http://oss.oetiker.ch/rrdtool/rrdtool.dtd">
<rrd><version>0003</version><step>15</step> <!-- Seconds -->
<lastupdate>1000020</lastupdate> <!-- 1970-01-12 14:47:00 CET -->
<ds><name> sum </name><type> GAUGE </type></ds>
<rra><cf>AVERAGE</cf><pdp_per_row>1</pdp_per_row><database>
<!-- 1970-01-12 14:46:45 CET / 1000005 --> <row><v>1.0000000000e+00</v></row>
<!-- 1970-01-12 14:47:00 CET / 1000020 --> <row><v>NaN</v></row>
</database></rra>
<rra><cf>AVERAGE</cf><pdp_per_row>4</pdp_per_row><database><row><v>3.0e+00</v></row></database></rra>
</rrd>
"""
SAMPLES: dict[str, tuple[Reader, bytes]] = {
    **{
        f"rrd of {name}": (
            GangliaRrd(),
            rrd_bytes(RINGS, last=1_000_005, sources=["sum", "num"], machine=machine),
        )
        for name, machine in MACHINES.items()
    },
    "poll": (GangliaXml(), POLL),
    "dump": (RrdDump(), DUMP),
}
NASTY = [
    b"\0",
    b"\xff" * 8,
    b"&",
    b"<",
    b"]]",
    b"[" * 2_000,
    b'"',
    b"<!--",
    b"9" * 30,
    b"1e999",
    b"-1",
    b"\n",
]


@st.composite
def mutated(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes with a few of them overwritten, inserted, repeated or cut away."""
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(data)))
        stop = min(len(data), start + draw(st.integers(0, 40)))
        piece = draw(st.one_of(st.binary(max_size=8), st.sampled_from(NASTY)))
        data = draw(
            st.sampled_from(
                [
                    data[:start] + piece + data[start + len(piece) :],
                    data[:start] + piece + data[start:],
                    data[:stop] + data[start:],
                    data[:start] + data[stop:],
                    data[:start],
                ]
            )
        )
    return data


def events_of(reader: Reader, data: bytes) -> tuple[pa.Table | None, ReadReport]:
    """What an ingest would take in."""
    report = ReadReport()
    batches = reader.read(io.BytesIO(data), "c/n7/load_one.log", ReadOptions(), report)
    tables = [raw_table(batch, InputFile(Location("load_one.log"), "c/n7/load_one.log")) for batch in batches]
    return (joined(tables) if tables else None), report


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_themselves_are_read_without_a_reject(name: str) -> None:
    table, report = events_of(*SAMPLES[name])
    assert table is not None
    assert len(table) > 0
    assert report.rejects == []


@pytest.mark.parametrize("name", SAMPLES)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_nothing_but_documented_errors_comes_out_of_mutated_files(name: str, data: st.DataObject) -> None:
    reader, sample = SAMPLES[name]
    content = data.draw(mutated(sample))
    begun = time.process_time()  # not by the clock: the machine may have other things to do
    reader.recognises(content[: 1 << 16])
    try:
        table, report = events_of(reader, content)
    except CepctlError as error:
        assert "load_one.log" in str(error)
        return
    finally:
        assert time.process_time() - begun < SECONDS
    assert report.records >= len(report.rejects)
    if table is not None:
        table.validate(full=True)
        assert report.records >= len(table)


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.startswith("rrd")])
@settings(deadline=None)
@given(offset=st.integers(0, 800), value=st.sampled_from([0, 1, 2**15, 2**24, 2**30, 2**31 - 1]))
def test_no_corrupt_count_makes_the_reader_ask_for_much_memory(name: str, offset: int, value: int) -> None:
    _, sample = SAMPLES[name]
    order = "little" if sample[12:24].find(b"\x2f\x25") >= 0 else "big"
    patched = sample[:offset] + value.to_bytes(4, order) + sample[offset + 4 :]  # type: ignore[arg-type]
    tracemalloc.start()
    try:
        events_of(GangliaRrd(), patched)
    except CepctlError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 40 << 20


def test_a_data_source_that_is_named_after_empty_rows_is_damage() -> None:
    moved = DUMP.replace(b"<ds><name> sum </name><type> GAUGE </type></ds>", b"").replace(
        b"</database></rra>\n<rra>", b"<name> sum </name></database></rra>\n<rra>"
    )
    with pytest.raises(CepctlError, match="is named after the first row"):
        events_of(RrdDump(), moved)


def test_a_dump_of_nothing_but_comments_is_cut_short() -> None:
    _, report = events_of(RrdDump(), b"<!-- a --><!-- <rrd > --><!-- b -->")
    assert [reject.cause for reject in report.rejects] == ["truncated dump"]
