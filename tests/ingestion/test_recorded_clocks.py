"""Events on clocks whose errors their hosts recorded: estimates taken off, one clock per segment or epoch.

The worked numbers are rational, over every possible world.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.cli import main
from cepctl.clocks.shared import clocks_of
from cepctl.clocks.ties import ClockTie, ties_of
from cepctl.errors import CepctlError, UncertaintyModelError
from cepctl.event_table import PMF_TYPE
from cepctl.io.contract.clock_offsets import shifted
from cepctl.matching.inputs import open_events
from cepctl.schema import CLOCK, META_CLOCK_RECORDS

CLOCKS = """host,from,to,ahead,ahead_to,low,high,sd,epoch,segment,jump
n,0,100000000,0,0,-2000000,2000000,,1,1,
n,100000000,200000000,0,0,-2000000,2000000,,1,2,{jump}
n,200000000,300000000,0,0,-2000000,2000000,,1,3,{jump}
m,0,300000000,0,0,-1000000,1000000,,1,1,
"""
LOG = """event_id,event_type,time,node
a,A,1970-01-01T00:00:00.099Z,n
b,B,1970-01-01T00:00:00.100Z,n
c,C,1970-01-01T00:00:00.102Z,n
e,E,1970-01-01T00:00:00.200Z,n
d,D,1970-01-01T00:00:00.101Z,m
f,F,1970-01-01T00:00:00.200Z,m
"""
RULE = 'time_unit = "1 ms"\n[[rule]]\nclock = {{ by = "node", from = "clocks.csv"{} }}\n'
EPOCH = ', residual = "epoch"'
JUMP = 1_000_000


def ingested(
    folder: Path, clocks: str, log: str = LOG, residual: str = "", keys: str = ""
) -> cepctl.Ingested:
    (folder / "clocks.csv").write_text(clocks)
    (folder / "log.csv").write_text(log)
    (folder / "model.toml").write_text(RULE.format(residual) + keys)
    return cepctl.ingest(
        folder / "log.csv", folder / "events", uncertainty=folder / "model.toml", overwrite=True
    )


@pytest.fixture(scope="module")
def with_residuals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, cepctl.Ingested]:
    """The log with a residual for each segment, tied to the one before or not, and with one for an epoch."""
    return {
        name: ingested(tmp_path_factory.mktemp("events"), CLOCKS.format(jump=jump), residual=residual)
        for name, jump, residual in (("tied", JUMP, ""), ("apart", "", ""), ("epoch", JUMP, EPOCH))
    }


def rows(folder: Path) -> dict[str, dict[str, object]]:
    with open_events([str(folder / "events")]) as inputs:
        return {row["event_id"]: row for row in inputs.read([]).to_pylist()}


@pytest.mark.parametrize(
    ("query", "tied", "apart", "epoch"),
    [
        ("SEQ(A a, B b)", "24/35", "3/5", "1"),
        ("SEQ(A a, C c)", "1", "22/25", "1"),
        ("SEQ(A a, D d)", "29/35", "4/5", "4/5"),
        ("SEQ(D d, C c)", "22/35", "3/5", "3/5"),
        ("SEQ(A a, B b, D d)", "2/5", "19/75", "3/5"),
        ("SEQ(A a, D d, C c)", "16/35", "34/75", "2/5"),
        ("SEQ(A a, !D d, C c)", "19/35", "32/75", "3/5"),
        ("SEQ(E e, F f)", "8/21", "2/5", "2/5"),
    ],
)
@pytest.mark.parametrize("engine", ["event", "worlds"])
def test_one_residual_for_each_segment_or_for_an_epoch(
    with_residuals: dict[str, cepctl.Ingested],
    query: str,
    tied: str,
    apart: str,
    epoch: str,
    engine: Literal["event", "worlds"],
) -> None:
    for residuals, stated in (("tied", tied), ("apart", apart), ("epoch", epoch)):
        found = cepctl.match(f"PATTERN {query}", with_residuals[residuals], engine=engine).polars()
        assert found["confidence"].to_list() == pytest.approx([float(Fraction(stated))], abs=1e-12)


def test_a_window_narrows_what_an_epoch_leaves(tmp_path: Path) -> None:
    for jump, residual, confidence in (("", "", [1 / 25]), ("", EPOCH, []), (JUMP, "", [3 / 35])):
        events = ingested(tmp_path, CLOCKS.format(jump=jump), residual=residual)
        found = cepctl.match("PATTERN SEQ(A a, D d, C c) WITHIN 3 ticks", events).polars()
        assert found["confidence"].to_list() == pytest.approx(confidence, abs=1e-12)
    first, last = (found[name].dt.timestamp("ms").to_list() for name in ("start", "end"))
    assert (first, last) == ([99], [103])


def test_a_dataset_knows_the_ties_of_its_clocks_and_the_segments_that_stamped_nothing(tmp_path: Path) -> None:
    log = "\n".join(LOG.splitlines()[:2]) + "\n"
    ingested(tmp_path, CLOCKS.format(jump=JUMP), log)
    metadata = pq.read_schema(tmp_path / "events" / "part-00000.parquet").metadata
    clocks = clocks_of(metadata)
    assert sorted(clocks) == ["node=n#1", "node=n#2", "node=n#3"]
    assert ties_of(clocks) == (ClockTie("node=n#1", "node=n#2", 1), ClockTie("node=n#2", "node=n#3", 1))


def test_ties_stay_when_intervals_are_assigned_again_in_finer_ticks(tmp_path: Path) -> None:
    ingested(tmp_path, CLOCKS.format(jump=JUMP))
    (tmp_path / "finer.toml").write_text('time_unit = "500 us"\n')
    cepctl.assign(tmp_path / "events", tmp_path / "again", uncertainty=tmp_path / "finer.toml")
    metadata = pq.read_schema(tmp_path / "again" / "part-00000.parquet").metadata
    assert {tie.ticks for tie in ties_of(clocks_of(metadata))} == {3}
    (tmp_path / "untied.toml").write_text('[[rule]]\ninterval = { before = "1 ms", after = "1 ms" }\n')
    cepctl.assign(tmp_path / "events", tmp_path / "untied", uncertainty=tmp_path / "untied.toml")
    metadata = pq.read_schema(tmp_path / "untied" / "part-00000.parquet").metadata
    assert not clocks_of(metadata)


def test_a_tie_is_a_tick_wider_where_an_estimate_is_rounded(tmp_path: Path) -> None:
    clocks = CLOCKS.format(jump=JUMP).replace(
        "n,100000000,200000000,0,0,", "n,100000000,200000000,250000,250000,"
    )
    ingested(tmp_path, clocks)
    metadata = pq.read_schema(tmp_path / "events" / "part-00000.parquet").metadata
    assert [tie.ticks for tie in ties_of(clocks_of(metadata))] == [2, 2]


def test_incremental_runs_keep_ties(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ingested(tmp_path, CLOCKS.format(jump=JUMP))
    head, first, *others = LOG.splitlines()
    log, state = tmp_path / "growing.csv", str(tmp_path / "state")
    command = ["match", "PATTERN SEQ(A a, D d, C c) WITHIN 100 ticks", str(log), "--state", state, "-q"]
    command += ["--runner", "local", "--uncertainty", str(tmp_path / "model.toml"), "--columns", "confidence"]
    log.write_text(f"{head}\n{first}\n")
    assert main(command) == 0
    log.write_text("\n".join([head, first, *others]) + "\n")
    assert main([*command, "--final"]) == 0
    assert [float(line) for line in capsys.readouterr().out.split()[1:]] == pytest.approx([16 / 35])


def test_the_estimate_is_taken_off_the_own_part(tmp_path: Path) -> None:
    # Ahead 12.6 ms at 09:00:12 and -0.76 ms at 09:01:16, never by more than 21.4 ms.
    clocks = (
        "host,from,to,ahead,ahead_to,low,high,sd,epoch,segment,jump\n"
        "node07,1772442012000000000,1772442076000000000,12600000,-760000,-34000000,22160000,,1,1,\n"
    )
    log = "event_id,event_type,time,node\na,A,2026-03-02T09:00:44.000Z,node07\n"
    ingested(tmp_path, clocks, log)
    row = rows(tmp_path)["a"]
    own = 1772442044000 - 6
    assert (row["lower"], row["upper"], row[CLOCK]) == (own - 23, own + 35, "node=node07#1")
    metadata = pq.read_schema(tmp_path / "events" / "part-00000.parquet").metadata
    assert clocks_of(metadata) == {"node=node07#1": ((-23, 35, 1.0),)}


def test_a_dataset_knows_the_records_that_made_it(tmp_path: Path) -> None:
    ingested(tmp_path, CLOCKS.format(jump=""))
    metadata = pq.read_schema(tmp_path / "events" / "part-00000.parquet").metadata
    (file, digest), *_ = json.loads(metadata[META_CLOCK_RECORDS]).items()
    assert (Path(file).name, len(digest)) == ("clocks.csv", 64)


def test_both_ends_of_what_lasts_move_by_the_estimate_of_its_start(tmp_path: Path) -> None:
    clocks = CLOCKS.format(jump="").replace("m,0,300000000,0,0,", "m,0,300000000,5000000,5000000,")
    log = "event_id,event_type,time,end_time,node\na,A,1970-01-01T00:00:00.100Z,1970-01-01T00:00:00.900Z,m\n"
    ingested(tmp_path, clocks, log, residual=EPOCH)
    row = rows(tmp_path)["a"]
    ends = (row["lower"], row["upper"], row["end_lower"], row["end_upper"])
    assert ends == (94, 96, 894, 896)


def test_a_mass_moves_with_its_interval(tmp_path: Path) -> None:
    clocks = CLOCKS.format(jump="").replace("m,0,300000000,0,0,", "m,0,300000000,5000000,5000000,")
    log = "event_id,event_type,time,node\na,A,1970-01-01T00:00:00.100Z,m\n"
    latency = 'latency = [["0 ms", "1 ms", 0.5], ["1 ms", "3 ms", 0.5]]\n'
    ingested(tmp_path, clocks, log, keys=latency)
    row = rows(tmp_path)["a"]
    assert row["pmf"] == [{"lo": 93, "hi": 94, "p": 0.5}, {"lo": 95, "hi": 95, "p": 0.5}]
    assert (row["lower"], row["upper"]) == (92, 96)


def test_masses_move_and_nulls_stay() -> None:
    masses = pa.array([[{"lo": 0, "hi": 1, "p": 1.0}], None, [{"lo": 5, "hi": 5, "p": 1.0}]], PMF_TYPE)
    table = pa.table({"lower": [0, None, 5], "upper": [1, 9, 5], "pmf": masses})
    moved = shifted(table, np.array([-3, 4, 1])).to_pydict()
    assert (moved["lower"], moved["upper"]) == ([-3, None, 6], [-2, 13, 6])
    assert [each and (each[0]["lo"], each[0]["hi"]) for each in moved["pmf"]] == [(-3, -2), None, (6, 6)]


def test_events_whose_clock_cannot_be_told_are_counted_by_cause(tmp_path: Path) -> None:
    log = LOG + (
        "x,X,1970-01-01T00:00:00.100Z,other\ny,Y,1970-01-01T00:00:00.300Z,n\nz,Z,1970-01-01T00:00:00.100Z,\n"
    )
    events = ingested(tmp_path, CLOCKS.format(jump=""), log)
    assert set(events.summary.notices) == {
        f"log.csv: events that rule 1 passes over, since {why}: 1"
        for why in (
            "they have no 'node' to tell their clock by",
            "clocks.csv does not have their 'node' (it has m, n)",
            "clocks.csv has nothing of their 'node' at their time",
        )
    }
    assert {row["event_id"] for row in rows(tmp_path).values() if row[CLOCK] is None} == {"x", "y", "z"}


@pytest.mark.parametrize(
    ("clock", "told"),
    [
        ('by = "node", from = "clocks.csv", offset = "1 s"', "`from` and `offset` exclude each other"),
        ('by = "node", from = "clocks.csv", period = "1 h"', "`from` and `period` exclude each other"),
        ('name = "node", from = "clocks.csv"', "`from` and `name` exclude each other"),
        ('from = "clocks.csv"', 'write clock = { by = "node", from = "clocks.parquet"'),
        ('by = "node", from = "clocks.csv", residual = "day"', 'residual is "epoch", or left out'),
        ('by = "node", from = "clocks.csv", inside = "normal"', 'inside is "uniform", or left out'),
        ('by = "node", from = "none.csv"', "cannot read .*none.csv"),
    ],
)
def test_a_rule_without_sense_says_what_to_write(tmp_path: Path, clock: str, told: str) -> None:
    (tmp_path / "clocks.csv").write_text(CLOCKS.format(jump=1_000_000))
    (tmp_path / "model.toml").write_text(f"[[rule]]\nclock = {{ {clock} }}\n")
    (tmp_path / "log.csv").write_text(LOG)
    with pytest.raises(UncertaintyModelError, match=told):
        cepctl.ingest(tmp_path / "log.csv", tmp_path / "events", uncertainty=tmp_path / "model.toml")


def test_own_parts_are_not_moved_twice(tmp_path: Path) -> None:
    ingested(tmp_path, CLOCKS.format(jump=""), residual=EPOCH)
    with pytest.raises(CepctlError, match=r"moved already by what was recorded.*ingest the logs again"):
        cepctl.assign(tmp_path / "events", tmp_path / "again", uncertainty=tmp_path / "model.toml")
    (tmp_path / "model.toml").write_text(RULE.format(EPOCH) + 'interval = { before = "0 s" }\n')
    cepctl.assign(tmp_path / "events", tmp_path / "again", uncertainty=tmp_path / "model.toml")
    one, again = (pl.read_parquet(tmp_path / name / "*.parquet") for name in ("events", "again"))
    assert one.equals(again)


def test_raw_logs_are_matched_on_recorded_clocks(tmp_path: Path) -> None:
    ingested(tmp_path, CLOCKS.format(jump=""), residual=EPOCH)
    model = tmp_path / "model.toml"
    found = cepctl.match("PATTERN SEQ(A a, D d)", tmp_path / "log.csv", uncertainty=model).polars()
    assert found["confidence"].to_list() == pytest.approx([0.8], abs=1e-12)
