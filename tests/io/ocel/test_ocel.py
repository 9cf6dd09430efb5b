"""Object-centric event logs: one log in three forms, objects as keys, and what changed of them."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import GRAIN, ReadOptions, ReadReport
from cepctl.io.formats import open_bytes, recognised_format
from cepctl.io.ocel.records import NOT_AN_EVENT
from cepctl.io.source.xml_mending import LOST
from cepctl.io.source.xml_stream import DAMAGED
from tests.io.ocel.ocel_logs import CHANGED, LINES, PAID, json_log, sqlite_log, xml_log

pytestmark = pytest.mark.filterwarnings("error")
FORMS = {"json": json_log(), "xml": xml_log(), "sqlite": sqlite_log()}
every_form = pytest.mark.parametrize("data", FORMS.values(), ids=FORMS)


def events(data: bytes, report: ReadReport | None = None, **options: Any) -> list[dict[str, Any]]:
    """The events that are read, by their type and time, without what is null or always the same."""
    with open_bytes(data, "x.ocel") as log:
        known = recognised_format(log.head, "x.ocel")
        assert known.name == "ocel"
        read = list(known.reader.read(log.stream, "x.ocel", ReadOptions(**options), report or ReadReport()))
    rows = [row for batch in read for row in batch.to_pylist()]
    left_out = {"number", "zone_seconds", "before", "after", "event_id", GRAIN}
    plain = [{k: v for k, v in row.items() if v is not None and k not in left_out} for row in rows]
    for row in plain:
        row["time"] = row["time"].strftime("%H:%M:%S")
    return sorted(plain, key=lambda row: (row["time"], row["event_type"], str(row)))


@every_form
def test_an_event_has_one_key_for_each_type_of_its_objects(data: bytes) -> None:
    report = ReadReport()
    place, change, pack, pay = events(data, report)
    assert place == {
        "event_type": "place order",
        "time": "08:00:00",
        "ocel_id": "e1",
        "price": 19.5,
        "order": "o1",
        "order:customer": "ann",
        "item": '["i1", "i2"]',
        "item/gift": "i2",
    }
    assert change == {
        "event_type": "ObjectChange",
        "time": "08:30:00",
        "changed": "urgent",
        "object_type": "order",
        "urgent": True,
        "urgent:was": False,
        "order": "o1",
        "order:customer": "ann",
    }
    assert pack == {"event_type": "pack", "time": "09:00:00", "ocel_id": "e2", "item": "i1", "order": "o1",
                    "order:customer": "ann"}  # fmt: skip
    assert pay["order"] == "o1"
    assert (report.records, report.rejects, report.warnings) == (4, [], [])
    assert sum(report.notes.values()) == 1


@every_form
def test_an_event_becomes_one_for_each_object_of_a_type(data: bytes) -> None:
    report = ReadReport()
    read = events(data, report, per_object="item")
    assert [(row["event_type"], row.get("item")) for row in read] == [
        ("place order", "i1"),
        ("place order", "i2"),
        ("ObjectChange", None),
        ("pack", "i1"),
        ("pay", None),
    ]
    assert read[0]["order"] == read[1]["order"] == "o1"
    assert dict(report.notes) == {
        "events that became several, one for each object of the type of --per-object: {:,}": 1
    }


def test_a_misspelt_type_of_objects_is_said() -> None:
    report = ReadReport()
    assert len(events(json_log(), report, per_object="itme")) == 4
    assert report.warnings == [
        "no object has the type 'itme'; did you mean 'item'? types are: 'item', 'order'"
    ]


def test_objects_may_follow_the_events_that_name_them() -> None:
    log = json.loads(json_log())
    turned = {name: log[name] for name in ("events", "objects", "eventTypes", "objectTypes")}
    assert events(json.dumps(turned, indent=1).encode()) == events(json_log())


def test_text_in_two_bytes_is_read() -> None:
    assert events(json_log().decode().encode("utf-16")) == events(json_log())


def test_an_object_that_is_not_listed_is_kept_and_noted() -> None:
    report = ReadReport()
    log = {"events": [{"id": 7, "type": "pay", "time": "2026-06-14T08:00:00Z", "by": "x",
                       "relationships": [{"objectId": "o9"}, {"qualifier": "q"}]}],
           "objects": []}  # fmt: skip
    assert events(json.dumps(log).encode(), report) == [
        {"event_type": "pay", "time": "08:00:00", "ocel_id": "7", "by": "x", "object": "o9"}
    ]
    assert sorted(report.notes.values()) == [1, 1, 1]


def test_what_is_not_an_event_is_rejected_and_the_rest_is_read() -> None:
    report = ReadReport()
    log = {"eventTypes": [], "events": [{"id": "e1"}, 7, *json.loads(json_log())["events"]], "objets": [1]}
    log["events"][2]["time"] = "soon"
    assert len(events(json.dumps(log).encode(), report)) == 2
    assert [reject.cause for reject in report.rejects] == [
        "not an event: one has an id and a type",
        "not an event: one has an id and a type",
        "no time",
        "the document has no array of objects",
    ]
    assert report.notes["members of the document that OCEL does not have, left out: {:,}"] == 1


def test_cut_json_is_read_up_to_the_cut() -> None:
    report, whole = ReadReport(), json_log()
    read = events(whole[: whole.index(b'"e3"')], report)
    assert [row["event_type"] for row in read] == ["place order", "ObjectChange", "pack"]
    assert [reject.cause for reject in report.rejects] == ["damaged or cut JSON, kept as far as it goes"]


def test_damage_in_xml_costs_its_record_alone_with_a_line() -> None:
    report = ReadReport()
    read = events(xml_log().replace(b'<event id="e2"', b'<event id="e2" & "', 1), report)
    assert [row["event_type"] for row in read] == ["place order", "ObjectChange", "pay"]
    assert {(reject.line, reject.cause) for reject in report.rejects} == {
        (next(n for n, line in enumerate(xml_log().splitlines(), 1) if b'id="e2"' in line), LOST)
    }


def test_a_record_that_was_rejected_before_the_damage_does_not_stand_for_it() -> None:
    report = ReadReport()
    nameless = xml_log().replace(b"<events>", b'<events><event time="2026-06-14T07:00:00Z"/>', 1)
    read = events(nameless.replace(b'qualifier="paid"', b'qualifier="paid"\0', 1), report)
    assert [row["event_type"] for row in read] == ["place order", "ObjectChange", "pack", "pay"]
    assert [reject.cause for reject in report.rejects] == [NOT_AN_EVENT, DAMAGED]
    assert report.warnings == []


def test_xml_that_declares_entities_is_refused() -> None:
    with pytest.raises(LogFormatError, match="declares XML entities"):
        events(xml_log().replace(b"<log>", b'<!DOCTYPE log [<!ENTITY a "x">]><log>', 1))


def test_a_log_of_traces_is_still_xes() -> None:
    assert recognised_format(b'<log><trace><event id="1"/></trace></log>', "x").name == "xes"


def test_events_that_no_table_of_a_type_has_are_rejected() -> None:
    report = ReadReport()
    read = events(sqlite_log("DELETE FROM event_pack", "DROP TABLE event_pay"), report)
    assert [row["event_type"] for row in read] == ["place order", "ObjectChange"]
    assert [(reject.cause, reject.raw) for reject in report.rejects] == [
        ("its type has no table, or that has no row for it", "event e2 of type pack"),
        ("its type has no table, or that has no row for it", "event e3 of type pay"),
    ]


def test_a_view_in_a_database_is_not_run() -> None:
    endless = (
        "CREATE VIEW event_pay AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) "
        "SELECT x AS ocel_id FROM n"
    )
    report = ReadReport()
    events(sqlite_log("DROP TABLE event_pay", endless), report)
    assert len(report.rejects) == 1


def test_another_database_is_refused_as_before() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.sqlite")
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE t (x)")
        connection.close()
        with pytest.raises(LogFormatError, match="SQLite database"):
            recognised_format(path.read_bytes(), "x")


def test_a_database_without_a_table_of_ocel_is_refused_by_its_name() -> None:
    with pytest.raises(LogFormatError, match="has no table event_object"):
        events(sqlite_log("DROP TABLE event_object"))


def test_the_small_log_is_what_the_forms_say() -> None:
    """Guards the fixture: three events, one object with a change, two items."""
    objects: Sequence[Any] = json.loads(json_log())["objects"]
    assert (len(LINES), len(objects), PAID, CHANGED) == (3, 3, "2026-06-14T10:00:00Z", "2026-06-14T08:30:00Z")


def test_a_database_whose_names_are_not_text_is_read_as_far_as_it_goes() -> None:
    report = ReadReport()
    data = sqlite_log()
    assert data.count(b"price REAL") == 1
    read = events(data.replace(b"price REAL", b"pri\xe5e REAL"), report)
    assert [row["event_type"] for row in read] == ["ObjectChange"]
    assert [reject.cause for reject in report.rejects] == ["the database is damaged, read as far as it goes"]


def test_objects_whose_ids_are_not_utf_8_stay_two_and_are_noted() -> None:
    relations = "UPDATE event_object SET ocel_object_id = CAST(x'69%s' AS TEXT) WHERE ocel_object_id = '%s'"
    ids = "UPDATE object_item SET ocel_id = CAST(x'69%s' AS TEXT) WHERE ocel_id = '%s'"
    renamed = [text % pair for text in (relations, ids) for pair in (("e9", "i1"), ("e8", "i2"))]
    report = ReadReport()
    first = events(sqlite_log(*renamed), report)[0]
    assert first["item"] == json.dumps(["i\\xe8", "i\\xe9"])
    (note,) = (note for note in report.notes if "not UTF-8" in note)
    assert report.notes[note] > 0
