"""A bit that flips anywhere in a log costs no event in silence: it is there, or something is said of it.

What "in silence" means, and how a flip that makes another valid log is told apart, is in
tests/reader_account.py.  Every day some bits of every small log are flipped, on demand all of them.
"""

from __future__ import annotations

from random import Random

import pytest

from cepctl.io.formats import known_formats
from tests.reader_account import account_of, lost_in_silence
from tests.small_logs import SMALL_LOGS

EVERYDAY_FLIPS = 15


def test_there_is_a_small_log_of_every_format() -> None:
    assert {known.name for known in known_formats()} == {name for name, _ in SMALL_LOGS.values()}


@pytest.mark.parametrize("name", SMALL_LOGS)
def test_small_logs_are_recognised_and_read_without_a_reject(name: str) -> None:
    format_name, data = SMALL_LOGS[name]
    # Here are patterns, which make a log of lines one that they are for.
    account = account_of(data, None if format_name != "lines" else format_name)
    assert account == account_of(data, format_name)
    assert (account.refused, account.said["rejects"]) == (None, 0)
    assert account.events > 0


@pytest.mark.parametrize("name", SMALL_LOGS)
def test_a_flipped_bit_costs_no_event_in_silence(name: str) -> None:
    bits = len(SMALL_LOGS[name][1]) * 8
    assert_nothing_is_lost(name, Random(name).sample(range(bits), EVERYDAY_FLIPS))


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL_LOGS)
def test_no_flipped_bit_costs_an_event_in_silence(name: str) -> None:
    assert_nothing_is_lost(name, range(len(SMALL_LOGS[name][1]) * 8))


@pytest.mark.parametrize(
    "declaration", [b"<!DOCTYPE GANGLIA_XML [ <!ELEMENT HOST (METRIC)*> ]>", b"<!DOCTYPE GANGLIA_XML>"]
)
def test_a_poll_whose_document_type_never_ends_is_read_or_said_to_be_damaged(declaration: bytes) -> None:
    _, data = SMALL_LOGS["ganglia, two polls"]
    marked = data.replace(b"<GANGLIA_XML", declaration + b"\n<GANGLIA_XML", 1)
    true = account_of(marked, "ganglia")
    damaged = account_of(marked.replace(b">\n<GANGLIA_XML", b"~\n<GANGLIA_XML", 1), "ganglia")
    assert true.events == 4
    assert damaged.events == 4 or damaged.said["warnings"] or damaged.refused


def test_a_metric_under_another_name_of_its_element_is_counted() -> None:
    _, data = SMALL_LOGS["ganglia, two polls"]
    account = account_of(data.replace(b'<METRIC NAME="os"', b'<MATRIC NAME="os"', 1), "ganglia")
    assert (account.events, account.said["rejects"]) == (3, 1)


def assert_nothing_is_lost(name: str, places: range | list[int]) -> None:
    format_name, data = SMALL_LOGS[name]
    true = account_of(data, format_name)
    lost = {}
    for place in places:
        damaged = bytearray(data)
        damaged[place // 8] ^= 1 << place % 8
        found = lost_in_silence(true, account_of(bytes(damaged), format_name), bytes(damaged), format_name)
        if found is not None:
            lost[place] = found
    assert lost == {}


@pytest.mark.parametrize(
    ("name", "member", "other", "note"),
    [
        (
            "ocel, JSON",
            b'"name": "urgent",\n     "t',
            b'"mame": "urgent",\n     "t',
            "attributes without a name",
        ),
        (
            "ocel, JSON",
            b'"order",\n   "attributes"',
            b'"order",\n   "attributds"',
            "objects with members that OCEL",
        ),
        (
            "ocel, XML",
            b'<attribute name="urgent" t',
            b'<attribute mame="urgent" t',
            "attributes without a name",
        ),
        ("ocel, SQLite", b"Zurgenttrue", b"Zurgenstrue", "name none of their fields"),
        (
            "ocel, SQLite",
            b"ocel_changed_field TEXT, c",
            b"ocel_changed_fielc TEXT, c",
            "tables of objects without",
        ),
    ],
)
def test_what_hides_a_change_of_an_object_is_counted(
    name: str, member: bytes, other: bytes, note: str
) -> None:
    format_name, data = SMALL_LOGS[name]
    assert member in data
    account = account_of(data.replace(member, other), format_name)
    assert account.refused is None
    assert any(note in said for said in account.said)
    assert not any(note in said for said in account_of(data, format_name).said)
