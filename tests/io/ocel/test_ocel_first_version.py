"""OCEL 1.0: the same log in four forms gives the same events; none is taken for another format."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cepctl.errors import LogFormatError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.ocel.records import NOT_AN_EVENT
from cepctl.io.source.xml_stream import DAMAGED

EVENTS = (
    ("e1", "place order", "2026-06-14T08:15:04", ("o1", "i1", "i2"), 7.5),
    ("e2", "pack item", "2026-06-14T08:15:09", ("i2",), 2.5),
)
OBJECTS = {"o1": "order", "i1": "item", "i2": "item"}


def as_json(file: Path) -> None:
    events = {
        name: {
            "ocel:activity": kind,
            "ocel:timestamp": time,
            "ocel:omap": objects,
            "ocel:vmap": {"weight": kg},
        }
        for name, kind, time, objects, kg in EVENTS
    }
    objects = {name: {"ocel:type": kind, "ocel:ovmap": {}} for name, kind in OBJECTS.items()}
    log = {"ocel:global-log": {"ocel:version": "1.0"}, "ocel:events": events, "ocel:objects": objects}
    file.write_text(json.dumps(log))


def as_xml(file: Path) -> None:
    text = '<log><global scope="event"><string key="ocel:activity" value="x"/></global><events>'
    for name, kind, time, objects, kg in EVENTS:
        ids = "".join(f'<string key="object-id" value="{each}"/>' for each in objects)
        text += (
            f'<event><string key="id" value="{name}"/><string key="activity" value="{kind}"/>'
            f'<date key="timestamp" value="{time}"/><list key="omap">{ids}</list>'
            f'<list key="vmap"><float key="weight" value="{kg}"/></list></event>\n'
        )
    text += "</events><objects>"
    for name, kind in OBJECTS.items():
        text += f'<object><string key="id" value="{name}"/><string key="type" value="{kind}"/></object>'
    file.write_text(text + "</objects></log>")


def as_database(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.executescript(
        'CREATE TABLE EVENTS ("ocel:eid" TEXT, "ocel:timestamp" TEXT, "ocel:activity" TEXT, weight REAL);'
        'CREATE TABLE OBJECTS ("ocel:oid" TEXT, "ocel:type" TEXT);'
        'CREATE TABLE RELATIONS ("ocel:eid" TEXT, "ocel:oid" TEXT, "ocel:type" TEXT);'
    )
    for name, kind, time, objects, kg in EVENTS:
        connection.execute("INSERT INTO EVENTS VALUES (?, ?, ?, ?)", (name, time, kind, kg))
        for each in objects:
            connection.execute("INSERT INTO RELATIONS VALUES (?, ?, ?)", (name, each, OBJECTS[each]))
    connection.executemany("INSERT INTO OBJECTS VALUES (?, ?)", OBJECTS.items())
    connection.commit()
    connection.close()


def as_csv(file: Path) -> None:
    text = "ocel:eid,ocel:timestamp,ocel:activity,weight,ocel:type:order,ocel:type:item\n"
    for name, kind, time, objects, kg in EVENTS:
        lists = (str([each for each in objects if OBJECTS[each] == of]) for of in ("order", "item"))
        text += f"{name},{time},{kind},{kg}," + ",".join(f'"{each}"' for each in lists) + "\n"
    file.write_text(text.replace('"[]"', ""))


def taken(file: Path, **read: Any) -> tuple[list[dict[str, Any]], IngestSummary]:
    out = file.parent / "events"
    summary = ingest([str(file)], str(out), IngestOptions(read=ReadOptions(**read), overwrite=True))
    rows = [row for part in sorted(out.glob("*.parquet")) for row in pq.read_table(part).to_pylist()]
    return sorted(rows, key=lambda row: (row["time"], row["event_id"])), summary


@pytest.mark.parametrize("write", [as_json, as_xml, as_database, as_csv])
def test_every_form_gives_the_same_events(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path / "log")
    rows, summary = taken(tmp_path / "log")
    assert summary.accounts[0].format == "ocel"
    assert [(row["ocel_id"], row["event_type"], row["order"], row["item"]) for row in rows] == [
        ("e1", "place order", "o1", '["i1", "i2"]'),
        ("e2", "pack item", None, "i2"),
    ]
    assert [float(row["weight"]) for row in rows] == [7.5, 2.5]
    assert [str(row["time"])[:19] for row in rows] == ["2026-06-14 08:15:04", "2026-06-14 08:15:09"]
    assert (summary.records, sum(summary.rejected.values())) == (2, 0)
    rows, _ = taken(tmp_path / "log", per_object="item")
    assert [(row["ocel_id"], row["item"]) for row in rows] == [("e1", "i1"), ("e1", "i2"), ("e2", "i2")]


@pytest.mark.parametrize(
    ("write", "before", "after"),
    [
        (as_json, '"ocel:activity": "pack item"', '"ocel:activity": null'),
        (as_xml, '<string key="activity" value="pack item"/>', ""),
        (as_csv, "pack item", ""),
        (as_csv, "2026-06-14T08:15:09", "soon"),
        (as_json, "2026-06-14T08:15:09", "soon"),
    ],
)
def test_an_event_that_is_damaged_is_a_reject(
    tmp_path: Path, write: Callable[[Path], None], before: str, after: str
) -> None:
    file = tmp_path / "log"
    write(file)
    assert before in file.read_text()
    file.write_text(file.read_text().replace(before, after))
    rows, summary = taken(file)
    assert ([row["ocel_id"] for row in rows], sum(summary.rejected.values())) == (["e1"], 1)


def test_two_events_of_one_id_are_both_read(tmp_path: Path) -> None:
    file = tmp_path / "log"
    as_json(file)
    file.write_text(file.read_text().replace('"e2"', '"e1"'))
    rows, _ = taken(file)
    assert [(row["ocel_id"], row["event_type"]) for row in rows] == [
        ("e1", "place order"),
        ("e1", "pack item"),
    ]


@pytest.mark.parametrize(
    ("write", "before", "after", "kept", "lost"),
    [
        (as_json, '"e1": {', '"e1": (', ["e2"], 1),
        (as_json, '"weight": 7.5}}', '"weight": 7.5}', ["e2"], 1),
        (as_json, '"ocel:events"', '"ocel:ev"', ["e1", "e2"], 1),
        (as_json, "place order", r"\ud800", ["e2"], 1),
        (as_csv, "\"['o1']\"", "\"['o1']", ["e2"], 1),
        (as_csv, "\"['i2']\"", "\"['i2'", ["e1"], 1),
    ],
)
def test_damage_costs_the_event_that_it_stands_in(
    tmp_path: Path, write: Callable[[Path], None], before: str, after: str, kept: list[str], lost: int
) -> None:
    file = tmp_path / "log"
    write(file)
    if write is as_csv:
        file.write_text(file.read_text().replace(",i2\n", ",\"['i2']\"\n"))
    assert before in file.read_text()
    file.write_text(file.read_text().replace(before, after, 1))
    rows, summary = taken(file)
    assert ([row["ocel_id"] for row in rows], sum(summary.rejected.values())) == (kept, lost)


def test_an_event_that_was_rejected_before_the_damage_does_not_stand_for_it(tmp_path: Path) -> None:
    file = tmp_path / "log"
    as_xml(file)
    text = file.read_text().replace("<events>", "<events><event/>", 1)
    file.write_text(text.replace('"i2"/></list>', '"i2"\0></list>', 1))
    rows, summary = taken(file)
    assert [row["ocel_id"] for row in rows] == ["e1", "e2"]
    assert set(summary.rejected) == {NOT_AN_EVENT, DAMAGED}
    assert not any(DAMAGED in notice for notice in summary.notices)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ('ALTER TABLE EVENTS RENAME COLUMN "ocel:eid" TO x', "no column EVENTS.ocel:eid; export it again"),
        ("DROP TABLE RELATIONS", "no column RELATIONS.ocel:eid, RELATIONS.ocel:oid"),
    ],
)
def test_a_database_without_its_columns_is_refused(tmp_path: Path, statement: str, said: str) -> None:
    file = tmp_path / "log"
    as_database(file)
    connection = sqlite3.connect(file)
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(LogFormatError, match=said):
        taken(file)


def test_a_row_of_a_database_without_a_name_of_its_activity_is_a_reject(tmp_path: Path) -> None:
    file = tmp_path / "log"
    as_database(file)
    connection = sqlite3.connect(file)
    connection.execute("UPDATE EVENTS SET \"ocel:activity\" = x'00ff' WHERE \"ocel:eid\" = 'e2'")
    connection.commit()
    connection.close()
    rows, summary = taken(file)
    assert ([row["ocel_id"] for row in rows], sum(summary.rejected.values())) == (["e1"], 1)
