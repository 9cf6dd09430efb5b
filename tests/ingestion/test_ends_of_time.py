"""Ticks end at ±2^62: what a model, a change of the time unit or a raw time puts beyond is rejected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cepctl.engines.columns.masses import masses_of
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import EventSchemaError
from cepctl.ingestion.assigning import assign_dataset
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.io.contract.reader import BEYOND_TIME, ReadOptions
from cepctl.io.contract.rescaling import rescaled
from cepctl.matching.inputs import read_events
from cepctl.schema import TimeUnit
from cepctl.uncertainty.model import parse_model
from tests.plans import Event, event_table, histogram, plan_of

END = 2**62
LONG = "4611686018427 s"
"""Less than 2^62 microseconds by 387,903."""
LOG = "event_type,event_id,time\nA,a,1970-01-01T00:00:00Z\nB,b,1970-01-01T00:00:01Z\n"


def intervals(dataset: Path) -> dict[str, tuple[int, int]]:
    rows = read_events([str(dataset)]).select(["event_id", "lower", "upper"]).to_pylist()
    return {row["event_id"]: (row["lower"], row["upper"]) for row in rows}


def ingested(folder: Path, text: str, model: str, read: ReadOptions | None = None) -> dict[str, int]:
    (folder / "log.csv").write_text(text)
    options = IngestOptions(read=read or ReadOptions(), model=parse_model(model))
    return dict(ingest([str(folder / "log.csv")], str(folder / "events"), options).rejected)


@pytest.mark.parametrize(
    "rule",
    [
        f'interval = {{ before = "0 s", after = "{LONG}" }}',
        f'latency = [["-{LONG}", "-4611686018426 s", 1.0]]',
    ],
)
def test_a_rule_that_reaches_beyond_rejects_the_event(tmp_path: Path, rule: str) -> None:
    causes = ingested(tmp_path, LOG, f'time_unit = "1 us"\n[[rule]]\n{rule}\n')
    assert causes == {BEYOND_TIME: 1}
    assert [*intervals(tmp_path / "events")] == ["a"]


def test_an_end_that_reaches_beyond_rejects_the_event(tmp_path: Path) -> None:
    log = "event_type,event_id,time,end_time\nA,a,0,1970-01-01T00:00:00Z\nB,b,0,1970-01-01T00:00:01Z\n"
    rule = f'interval = {{ before = "0 s", after = "{LONG}" }}'
    assert ingested(tmp_path, log, f'time_unit = "1 us"\n[[rule]]\n{rule}\n') == {BEYOND_TIME: 1}


def test_assign_rejects_what_a_finer_unit_puts_beyond(tmp_path: Path) -> None:
    last = END // 1000
    log = f"event_type,event_id,lower,upper\nA,a,0,1\nB,b,0,{last}\nC,c,{last - 1},{last - 1}\n"
    assert ingested(tmp_path, log, "") == {}
    model = IngestOptions(model=parse_model('time_unit = "1 us"'))
    done = assign_dataset(str(tmp_path / "events"), str(tmp_path / "finer"), model)
    assert dict(done.rejected) == {BEYOND_TIME: 1}
    assert intervals(tmp_path / "finer")["a"] == (0, 1_999)
    assert sorted(intervals(tmp_path / "finer")) == ["a", "c"]


def test_a_raw_time_near_what_64_bits_hold_is_no_other_time(tmp_path: Path) -> None:
    log = f"event_type,event_id,time\nA,a,{(2**63 - 1) // 1000}\nB,b,5\n"
    rule = '[[rule]]\ninterval = { before = "0 s", after = "1 s" }\n'
    assert ingested(tmp_path, log, rule, ReadOptions(epoch_unit="ms")) == {}
    assert intervals(tmp_path / "events")["a"] == (9223372036854775, 9223372036855775)


BEYOND = {
    "a uniform event": Event("e", "A", 0, END + 1),
    "an early event": Event("e", "A", -END - 1, 0),
    "a histogram": histogram("e", "A", (0, 1, 0.5), (END, END + 1, 0.5)),
}


@pytest.mark.parametrize("name", BEYOND)
def test_every_engine_refuses_a_stored_event_beyond_the_ends_of_time(name: str) -> None:
    table = event_table([BEYOND[name]])
    with pytest.raises(EventSchemaError, match=r"'e'.* beyond the range of ticks"):
        masses_of(table)
    with pytest.raises(EventSchemaError, match=r"'e'.* beyond the range of ticks"):
        match_table(plan_of("PATTERN A a"), table)


def test_the_ends_of_time_are_part_of_it() -> None:
    masses = masses_of(event_table([Event("e", "A", -END, END)]))
    assert (int(masses.lower[0]), int(masses.upper[0])) == (-END, END)
    assert np.isclose(masses.density[0], 2.0**-63, rtol=1e-15)


def test_datasets_of_different_units_that_meet_beyond_are_refused() -> None:
    events = event_table([Event("e", "A", 0, END // 1000)])
    finer = rescaled(events, TimeUnit(1_000), TimeUnit(1))
    with pytest.raises(EventSchemaError, match=r"'e'.* beyond the range of ticks"):
        masses_of(finer)
    assert isinstance(finer, pa.Table)
