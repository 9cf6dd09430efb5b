"""RRD files become the finest known value of every span, whatever machine wrote them."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import recognised_format
from cepctl.io.ganglia.rrd_file import GangliaRrd
from cepctl.schema import TimeUnit
from tests.rrd_files import MACHINES, NAN, Machine, Ring, rrd_bytes

READER = GangliaRrd()
PATH = "rrds/web/n7.example.com/load_one.rrd"
LAST = 1_350_000_000  # a whole number of minutes


def column(*values: float) -> list[list[float]]:
    return [[value] for value in values]


def read(
    data: bytes,
    source: str = PATH,
    options: ReadOptions | None = None,
    report: ReadReport | None = None,
) -> list[dict[str, Any]]:
    batches = READER.read(io.BytesIO(data), source, options or ReadOptions(), report or ReadReport())
    rows = []
    for batch in batches:
        seconds = batch.column("time").cast(pa.int64()).to_pylist()
        rows += [
            row | {"time": micros // 1_000_000}
            for row, micros in zip(batch.to_pylist(), seconds, strict=True)
        ]
    return rows


def spans(rows: list[dict[str, Any]]) -> list[tuple[int, int, float]]:
    """First and last second of each value's interval when ticks are seconds, relative to LAST."""
    found = []
    for row in rows:
        first, last = row["time"] - row["before"] // 1_000_000, row["time"] + row["after"] // 1_000_000
        found.append((first - LAST, last - LAST, row["value"]))
    return found


SECONDS = ReadOptions(time_unit=TimeUnit(1_000_000))


@pytest.mark.parametrize("version", ["0001", "0003", "0005"])
@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_files_of_every_machine_and_version_say_the_same(machine: Machine, version: str) -> None:
    ring = Ring(column(1.5, 2.5, 3.5), newest=1)
    data = rrd_bytes([ring], last=LAST + 7, machine=machine, version=version)
    rows = read(data)
    assert [(row["time"] - LAST, row["value"]) for row in rows] == [(-30, 1.5), (-15, 2.5), (0, 3.5)]
    assert READER.recognises(data[:100])


def test_the_path_says_whose_metric_it_is() -> None:
    (row,) = read(rrd_bytes([Ring(column(0.25))], last=LAST))
    assert (row["event_type"], row["metric"], row["node"], row["cluster"]) == (
        "load_one",
        "load_one",
        "n7.example.com",
        "web",
    )
    assert (row["summary"], row["resolution"], row["number"]) == (False, 15, 1)
    (row,) = read(rrd_bytes([Ring(column(0.25))], last=LAST), "load_one.rrd")
    assert (row["event_type"], row["node"], row["cluster"]) == ("load_one", None, None)


def test_domains_can_be_dropped() -> None:
    (row,) = read(rrd_bytes([Ring(column(0.25))], last=LAST), options=ReadOptions(drop_domain=True))
    assert (row["event_type"], row["metric"], row["node"], row["node_raw"]) == (
        "load_one",
        "load_one",
        "n7",
        "n7.example.com",
    )


def test_a_value_describes_the_step_that_ends_at_its_time() -> None:
    rows = read(rrd_bytes([Ring(column(1, 2))], last=LAST), options=SECONDS)
    assert spans(rows) == [(-29, -15, 1), (-14, 0, 2)]
    (row,) = read(rrd_bytes([Ring(column(1))], last=LAST))
    assert (row["before"], row["after"]) == (15_000_000 - 1_000, 0)
    (row,) = read(
        rrd_bytes([Ring(column(1))], last=LAST), options=ReadOptions(time_unit=TimeUnit(60_000_000))
    )
    assert row["before"] == 15_000_000 - 1  # rounded outwards: the minute before takes part


def test_of_archives_that_overlap_the_finest_speaks_and_coarser_ones_only_of_the_time_before() -> None:
    fine, coarse = Ring(column(1, 2, 3)), Ring(column(10, 20), steps=4, newest=1)
    report = ReadReport()
    rows = read(rrd_bytes([coarse, fine], last=LAST, sources=["sum"]), options=SECONDS, report=report)
    # The second minute is cut where the fine rows begin, 45 s before the end.
    assert spans(rows) == [(-44, -30, 1), (-29, -15, 2), (-14, 0, 3), (-119, -60, 10), (-59, -45, 20)]
    assert [row["time"] - LAST for row in rows] == [-30, -15, 0, -60, 0]
    assert (report.records, report.skipped) == (5, {})


def test_what_a_finer_archive_has_is_left_out_and_counted() -> None:
    fine, coarse = Ring(column(*range(8))), Ring(column(7, 8, 9), steps=4)
    report = ReadReport()
    rows = read(rrd_bytes([fine, coarse], last=LAST), options=SECONDS, report=report)
    assert spans(rows)[8:] == [(-179, -120, 7)]
    assert (report.records, report.skipped) == (11, {"value that a finer archive has": 2})


def test_unknown_values_are_counted_and_no_coarser_average_stands_in_for_them() -> None:
    fine, coarse = Ring(column(1, NAN, NAN, 4)), Ring(column(9), steps=4)
    report = ReadReport()
    rows = read(rrd_bytes([fine, coarse], last=LAST), options=SECONDS, report=report)
    assert spans(rows) == [(-59, -45, 1), (-14, 0, 4)]
    assert report.skipped == {"unknown value (NaN)": 2, "value that a finer archive has": 1}


def test_an_unknown_value_is_counted_as_unknown_also_where_a_finer_archive_knows_more() -> None:
    fine, coarse = Ring(column(*range(8))), Ring(column(7, NAN, 9), steps=4)
    report = ReadReport()
    rows = read(rrd_bytes([fine, coarse], last=LAST), options=SECONDS, report=report)
    assert (len(rows), report.records) == (9, 11)
    assert report.skipped == {"unknown value (NaN)": 1, "value that a finer archive has": 1}


def test_rows_that_were_never_filled_hide_nothing() -> None:
    fine, coarse = Ring(column(NAN, NAN, NAN, NAN, 5)), Ring(column(6, 7), steps=4)
    rows = read(rrd_bytes([fine, coarse], last=LAST), options=SECONDS)
    assert spans(rows) == [(-14, 0, 5), (-119, -60, 6), (-59, -15, 7)]


def test_archives_of_extremes_are_counted_and_left_out() -> None:
    report = ReadReport()
    rows = read(rrd_bytes([Ring(column(1)), Ring(column(8, 9), function="MAX")], last=LAST), report=report)
    assert [row["value"] for row in rows] == [1]
    assert report.skipped == {"value of a MAX archive": 2}


@pytest.mark.parametrize("folder", ["web/", "", "rrds/", "rrds/web/"])
def test_summaries_never_mix_with_metrics_of_hosts(folder: str) -> None:
    data = rrd_bytes([Ring([[6.0, 3.0], [8.0, NAN]], newest=1)], last=LAST, sources=["sum", "num"])
    rows = read(data, f"{folder}__SummaryInfo__/load_one.rrd")
    assert [(row["event_type"], row["metric"], row["value"], row["hosts"]) for row in rows] == [
        ("summary:load_one", "load_one", 6.0, 3.0),
        ("summary:load_one", "load_one", 8.0, None),
    ]
    assert {(row["node"], row["summary"]) for row in rows} == {(None, True)}
    assert {row["cluster"] for row in rows} == {"web" if "web" in folder else None}


def test_a_summary_is_told_from_its_data_sources_where_the_path_is_cut_short() -> None:
    (row,) = read(rrd_bytes([Ring([[6.0, 3.0]])], last=LAST, sources=["sum", "num"]), "load_one.rrd")
    assert (row["event_type"], row["hosts"]) == ("summary:load_one", 3.0)


def test_data_sources_of_other_programs_are_metrics_of_their_own() -> None:
    data = rrd_bytes([Ring([[1.0, 2.0]])], last=LAST, sources=["rx", "tx"])
    assert [(row["event_type"], row["value"], row["number"]) for row in read(data, "c/n/eth0.rrd")] == [
        ("eth0.rx", 1.0, 1),
        ("eth0.tx", 2.0, 2),
    ]
    (row,) = read(rrd_bytes([Ring(column(1))], last=LAST, sources=["value"]), "c/n/eth0.rrd")
    assert row["event_type"] == "eth0"


def test_infinite_values_stand_as_text() -> None:
    rows = read(rrd_bytes([Ring(column(float("inf"), float("-inf"), 1.0), newest=2)], last=LAST))
    assert [(row["value"], row["value_text"]) for row in rows] == [(None, "inf"), (None, "-inf"), (1.0, None)]


def test_a_newest_row_in_the_future_is_kept_and_said() -> None:
    report = ReadReport()
    soon = int(time.time()) // 60 * 60 + 3_600
    assert len(read(rrd_bytes([Ring(column(1, 2))], last=soon), report=report)) == 2
    (warning,) = report.warnings
    assert "in the future; it was kept" in warning


# --- Damage -------------------------------------------------------------------------------


def test_a_file_cut_short_keeps_the_rows_before_the_cut() -> None:
    data = rrd_bytes([Ring(column(*range(10)), newest=4)], last=LAST)
    report = ReadReport()
    # The ring begins with rows 5 to 9; of the others, two are left.
    rows = read(data[: -3 * 8 - 1], report=report)
    assert [(row["time"] - LAST, row["value"]) for row in rows] == [
        (-135, 0), (-60, 5), (-45, 6), (-30, 7), (-15, 8), (0, 9)
    ]  # fmt: skip
    assert [(reject.source, reject.cause, reject.text) for reject in report.rejects] == [
        (PATH, "the RRD file is cut short", "4 rows are missing")
    ]


def test_a_machine_with_another_layout_is_told_what_to_do() -> None:
    arm = Machine("<", 4, 8)
    with pytest.raises(LogFormatError, match=r"load_one\.rrd: .* aligns double .* run: rrdtool dump"):
        read(rrd_bytes([Ring(column(1))], last=LAST, machine=arm))


def patched(offset: int, value: bytes) -> bytes:
    data = bytearray(rrd_bytes([Ring(column(1, 2, 3))], last=LAST))
    data[offset : offset + len(value)] = value
    return bytes(data)


HUGE = (2**40).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (patched(4, b"0009"), "RRD version '0009' is not known"),
        (patched(16, bytes(8)), "float cookie is missing"),
        (patched(24, (2**31).to_bytes(8, "little")), "tells of 2,147,483,648 data sources"),
        (patched(32, bytes(8)), "tells of 1 data sources and 0 archives"),
        (patched(128 + 120 + 24, HUGE), r"an archive of 1,099,511,627,776 rows"),
        (patched(128 + 120 + 24, (2**30).to_bytes(8, "little")), r"more than 33,554,432 values"),
        (patched(128 + 120 + 32, bytes(8)), "an archive of 3 rows of 0 times 15 s"),
        (patched(128 + 240, HUGE), "its last update at second 1099511627776"),
        (patched(-32, (3).to_bytes(8, "little")), "row 3 as the newest of 3"),
        (patched(0, b"")[:100], "cut short"),
        (patched(0, b"")[:300], "cut short"),
        (b"corrupt rrd signature" * 9, "not an RRD file"),
    ],
)
def test_a_damaged_header_is_refused_with_what_is_wrong(data: bytes, said: str) -> None:
    with pytest.raises(LogFormatError, match=rf"load_one\.rrd: .*{said}"):
        read(data)


def test_an_empty_file_has_no_events() -> None:
    assert read(b"") == []


# --- Real files, and rrdtool itself ---------------------------------------------------------


def dumped_rows(dump: str) -> list[dict[int, list[float]]]:
    """Stamp and values of every row of every archive, by regular expressions alone."""
    archives = []
    for database in re.findall(r"<database>(.*?)</database>", dump, re.DOTALL):
        rows = re.findall(r"/ (\d+) --> <row>(.*?)</row>", database)
        archives.append({int(t): [float(v) for v in re.findall(r"<v>(.*?)</v>", row)] for t, row in rows})
    return archives


def values_by_source(rows: list[dict[str, Any]]) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        found.setdefault(row["metric"].rpartition(".")[2], {})[row["time"]] = row["value"]
    return found


def real_files() -> list[Path]:
    root = os.environ.get("CEPCTL_REALDATA")
    return sorted(Path(root, "ganglia", "rrd").glob("000*.rrd")) if root else []


@pytest.mark.realdata
def test_a_real_file_says_what_its_dump_says(real_logs: Path) -> None:
    folder = real_logs / "ganglia" / "rrd"
    fine, coarse = dumped_rows((folder / "rrdtool.xml").read_text())
    assert (len(fine), len(coarse)) == (24, 10)
    values = values_by_source(read((folder / "rrdtool.rrd").read_bytes()))
    for place, name in enumerate(["speed", "weight"]):
        known = {stamp: row[place] for stamp, row in fine.items() if not np.isnan(row[place])}
        # No coarse row is older than the first fine one and known.
        assert values[name].keys() == known.keys()
        np.testing.assert_allclose(list(values[name].values()), list(known.values()), rtol=1e-9)


@pytest.mark.realdata
@pytest.mark.skipif(not real_files(), reason="CEPCTL_REALDATA names no RRD files")
@pytest.mark.parametrize("path", real_files(), ids=lambda path: path.name)
def test_real_files_of_other_machines_have_their_rows(path: Path) -> None:
    report = ReadReport()
    rows = read(path.read_bytes(), f"c/n/{path.name}", report=report)
    assert report.records == 2 * 34
    assert len(rows) == 68 - sum(report.skipped.values())
    twin = values_by_source(read((path.parent / "rrdtool.rrd").read_bytes(), "c/n/twin.rrd"))
    own = values_by_source(rows)
    for name in ("speed", "weight"):
        shared = own[name].keys() & twin[name].keys()
        assert len(shared) == len(twin[name])
        np.testing.assert_allclose([own[name][t] for t in shared], [twin[name][t] for t in shared], rtol=1e-6)


@pytest.mark.realdata
def test_real_files_that_are_none_are_refused(real_logs: Path) -> None:
    corrupt = (real_logs / "ganglia" / "rrd" / "corrupt.rrd").read_bytes()
    with pytest.raises(LogFormatError, match=r"corrupt\.rrd: of no known format"):
        recognised_format(corrupt, "corrupt.rrd")
    with pytest.raises(LogFormatError, match=r"load_one\.rrd: not an RRD file"):
        read(corrupt)


@pytest.mark.skipif(shutil.which("rrdtool") is None, reason="rrdtool is not installed")
def test_rrdtool_reads_our_files_as_we_do(tmp_path: Path) -> None:
    rings = [Ring(column(1, 2, NAN, 4), newest=2), Ring(column(7, 8, 9), steps=4, newest=1)]
    (tmp_path / "load_one.rrd").write_bytes(rrd_bytes(rings, last=LAST + 3))
    done = subprocess.run(
        ["rrdtool", "dump", tmp_path / "load_one.rrd"], capture_output=True, text=True, check=True
    )
    fine, coarse = dumped_rows(done.stdout)
    finest = coarse | fine
    rows = read((tmp_path / "load_one.rrd").read_bytes())
    assert {row["time"]: row["value"] for row in rows} == {
        stamp: value for stamp, (value,) in finest.items() if not np.isnan(value)
    }


def test_a_compressed_file_reads_alike() -> None:
    data = rrd_bytes([Ring(column(*range(5_000)))], last=LAST)
    with gzip.open(io.BytesIO(gzip.compress(data))) as stream:
        batches = list(READER.read(cast(IO[bytes], stream), PATH, ReadOptions(), ReadReport()))
    assert sum(batch.num_rows for batch in batches) == 5_000
