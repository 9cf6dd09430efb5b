"""A small object-centric log in JSON, XML and SQLite: an order of two items is placed, packed and paid."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

CHANGED, PAID = "2026-06-14T08:30:00Z", "2026-06-14T10:00:00Z"
LINES: tuple[tuple[str, str, str, dict[str, Any], tuple[tuple[str, str], ...]], ...] = (
    ("e1", "place order", "2026-06-14T08:00:00Z", {"price": "19.5"},
     (("o1", "placed"), ("i1", "part"), ("i2", "part"), ("i2", "gift"))),
    ("e2", "pack", "2026-06-14T09:00:00Z", {}, (("i1", "packed"), ("o1", "of"))),
    ("e3", "pay", PAID, {}, (("o1", "paid"),)),
)  # fmt: skip
COMMON_TABLES = (
    "CREATE TABLE event_map_type (ocel_type TEXT, ocel_type_map TEXT);"
    "CREATE TABLE object_map_type (ocel_type TEXT, ocel_type_map TEXT);"
    "CREATE TABLE event (ocel_id TEXT, ocel_type TEXT);"
    "CREATE TABLE object (ocel_id TEXT, ocel_type TEXT);"
    "CREATE TABLE event_object (ocel_event_id TEXT, ocel_object_id TEXT, ocel_qualifier TEXT);"
)
"""Those of every log in SQLite."""
_START = "1970-01-01T00:00:00Z"
_VALUES = (("customer", _START, "ann"), ("urgent", _START, "false"), ("urgent", CHANGED, "true"))
_TYPES = {"price": "float", "customer": "string", "urgent": "boolean"}


def json_log() -> bytes:
    """The log in JSON."""
    kinds = {"item": (), "order": ("customer", "urgent")}
    of_events = {"place order": ("price",), "pack": (), "pay": ()}
    log = {
        "objectTypes": [_type(name, attributes) for name, attributes in kinds.items()],
        "eventTypes": [_type(name, attributes) for name, attributes in of_events.items()],
        "objects": [
            {
                "id": "o1",
                "type": "order",
                "attributes": [{"name": name, "time": time, "value": value} for name, time, value in _VALUES],
                "relationships": [{"objectId": "i1", "qualifier": "part"}],
            },
            {"id": "i1", "type": "item"},
            {"id": "i2", "type": "item", "attributes": []},
        ],
        "events": [
            {
                "id": event_id,
                "type": event_type,
                "time": time,
                "attributes": [{"name": name, "value": value} for name, value in attributes.items()],
                "relationships": [{"objectId": each, "qualifier": said} for each, said in relations],
            }
            for event_id, event_type, time, attributes, relations in LINES
        ],
    }
    return json.dumps(log, indent=1).encode()


def _type(name: str, attributes: tuple[str, ...]) -> dict[str, Any]:
    return {"name": name, "attributes": [{"name": each, "type": _TYPES[each]} for each in attributes]}


def xml_log() -> bytes:
    """The log in XML."""
    values = "".join(
        f'<attribute name="{name}" time="{time}">{value}</attribute>' for name, time, value in _VALUES
    )
    events = "".join(
        f'<event id="{event_id}" type="{event_type}" time="{time}"><attributes>'
        + "".join(f'<attribute name="{name}">{value}</attribute>' for name, value in attributes.items())
        + "</attributes><objects>"
        + "".join(f'<relationship object-id="{each}" qualifier="{said}"/>' for each, said in relations)
        + "</objects></event>\n"
        for event_id, event_type, time, attributes, relations in LINES
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<log>\n<object-types>\n'
        '<object-type name="order"><attributes><attribute name="customer" type="string"/>'
        '<attribute name="urgent" type="boolean"/></attributes></object-type>\n'
        '<object-type name="item"><attributes/></object-type>\n</object-types>\n<event-types>\n'
        '<event-type name="place order"><attributes><attribute name="price" type="float"/></attributes>'
        "</event-type>\n"
        "</event-types>\n<objects>\n"
        f'<object id="o1" type="order"><attributes>{values}</attributes>'
        '<objects><relationship object-id="i1" qualifier="part"/></objects></object>\n'
        '<object id="i1" type="item"><attributes/></object>\n<object id="i2" type="item"/>\n</objects>\n'
        f"<events>\n{events}</events>\n</log>\n"
    ).encode()


def sqlite_log(*statements: str) -> bytes:
    """The log as a database, after these statements."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "PRAGMA page_size = 512;"
        f"{COMMON_TABLES}"
        "CREATE TABLE event_place (ocel_id TEXT, ocel_time TEXT, price REAL);"
        "CREATE TABLE event_pack (ocel_id TEXT, ocel_time TEXT);"
        "CREATE TABLE event_pay (ocel_id TEXT, ocel_time TEXT);"
        "CREATE TABLE object_item (ocel_id TEXT, ocel_time TEXT);"
        "CREATE TABLE object_order"
        " (ocel_id TEXT, ocel_time TEXT, ocel_changed_field TEXT, customer TEXT, urgent BOOLEAN);"
    )
    tables = {"place order": "place", "pack": "pack", "pay": "pay"}
    connection.executemany("INSERT INTO event_map_type VALUES (?, ?)", tables.items())
    connection.executemany(
        "INSERT INTO object_map_type VALUES (?, ?)", [("order", "order"), ("item", "item")]
    )
    for event_id, event_type, time, attributes, relations in LINES:
        connection.execute("INSERT INTO event VALUES (?, ?)", (event_id, event_type))
        row = (event_id, time, *attributes.values())
        places = ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO event_{tables[event_type]} VALUES ({places})", row)
        connection.executemany(
            "INSERT INTO event_object VALUES (?, ?, ?)", [(event_id, *pair) for pair in relations]
        )
    connection.executemany(
        "INSERT INTO object VALUES (?, ?)", [("o1", "order"), ("i1", "item"), ("i2", "item")]
    )
    connection.executemany("INSERT INTO object_item VALUES (?, ?)", [("i1", _START), ("i2", _START)])
    connection.executemany(
        "INSERT INTO object_order VALUES (?, ?, ?, ?, ?)",
        [("o1", _START, None, "ann", "false"), ("o1", CHANGED, "urgent", None, "true")],
    )
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    return connection.serialize()
