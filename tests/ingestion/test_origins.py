"""Every event says which record of which source it was, and queries read that like attributes."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cepctl

HEAD = "event_type,event_id,lower,upper\n"
MODEL = '[[rule]]\ninterval = { before = "1 s", after = "0 s" }\n'


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two files, the rows of one not in the order of their times, with ids of their own."""
    (tmp_path / "a.csv").write_text(HEAD + "A,late,5,5\nB,early,1,1\n")
    (tmp_path / "b.csv").write_text(HEAD + "A,only,2,2\n")
    return tmp_path


def _origins(events: object) -> list[tuple[str, int]]:
    query = "PATTERN SEQ(* e) RETURN e.source AS source, e.record AS record"
    rows = cepctl.match(query, events)
    return sorted((row["source"], row["record"]) for row in rows)


def test_the_record_of_an_event_is_its_number_in_its_source(logs: Path) -> None:
    events = logs / "events"
    cepctl.ingest([logs / "a.csv", logs / "b.csv"], events)
    assert _origins(events) == [("a.csv", 1), ("a.csv", 2), ("b.csv", 1)]
    assert pq.read_table(events / "part-00000.parquet").column("record").type == pa.int64()


def test_conditions_groups_and_keys_read_where_events_came_from(logs: Path) -> None:
    files = [logs / "a.csv", logs / "b.csv"]
    query = "PATTERN SEQ(* x, * y) WHERE {} RETURN x.event_id AS first, y.event_id AS second"
    (row,) = cepctl.match(query.format("[source]"), files)
    assert (row["first"], row["second"]) == ("early", "late")
    (row,) = cepctl.match(query.format("x.record = 1 AND y.source = 'a.csv'"), files)
    assert (row["first"], row["second"]) == ("only", "late")
    rows = cepctl.match("PATTERN SEQ(* x) GROUP BY x.source RETURN x.source AS source, matches", files)
    assert {row["source"]: row["matches"] for row in rows} == {"a.csv": 2, "b.csv": 1}


def test_what_is_given_reads_records(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(HEAD + "A,a,0,9\nB,b,0,9\n")
    query = "PATTERN SEQ(A a, B b) GIVEN SEQ(* x, * y) IF x.source = y.source AND x.record < y.record"
    (row,) = cepctl.match(query, tmp_path / "a.csv")
    assert row["confidence"] == 1.0


def test_an_event_keeps_its_record_when_its_interval_changes(logs: Path) -> None:
    (logs / "c.csv").write_text("event_type,time\nA,2026-06-14T10:00:01.5Z\nA,2026-06-14T10:00:00.5Z\n")
    cepctl.ingest(logs / "c.csv", logs / "events")
    (logs / "model.toml").write_text(MODEL)
    cepctl.assign(logs / "events", logs / "again", uncertainty=logs / "model.toml")
    assert _origins(logs / "again") == [("c.csv", 1), ("c.csv", 2)]


def test_an_attribute_called_record_gets_the_prefix_of_such(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("event_type,lower,upper,record\nA,1,1,seven\n")
    query = "PATTERN SEQ(A a) RETURN a.record AS number, a.`attr:record` AS own"
    (row,) = cepctl.match(query, tmp_path / "a.csv")
    assert (row["number"], row["own"]) == (1, "seven")


def test_a_dataset_of_an_earlier_version_has_no_records(logs: Path) -> None:
    cepctl.ingest(logs / "a.csv", logs / "events")
    part = logs / "events" / "part-00000.parquet"
    table = pq.read_table(part)
    pq.write_table(table.drop_columns(["record"]), part)
    rows = list(cepctl.match("PATTERN SEQ(* e) RETURN e.record AS record", logs / "events"))
    assert [row["record"] for row in rows] == [None, None]
    cepctl.ingest(logs / "events", logs / "again")
    rows = list(cepctl.match("PATTERN SEQ(* e) RETURN e.record AS record", logs / "again"))
    assert [row["record"] for row in rows] == [None, None]
