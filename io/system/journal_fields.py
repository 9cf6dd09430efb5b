"""What the fields of a journal are called, and which attributes they become."""

from __future__ import annotations

RECEIVED, GIVEN = "__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP"
MOST_DIGITS = 18
"""A time of more digits is none."""
OWN = ("MESSAGE", "PRIORITY")
"""Fields that have an attribute of their own, and no other one."""
OF_ITS_OWN = frozenset(("node", "program", "severity", "message"))
"""Attributes that are told of every entry; a field with such a short name keeps its own."""
UNTYPED = "Message"
_NAMED = {"_SYSTEMD_UNIT": "unit", "_HOSTNAME": "node_raw"}


def short_name(field: str) -> str:
    """The attribute that a field becomes, unless it is taken.

    Examples
    --------
    >>> short_name("_SYSTEMD_UNIT"), short_name("_BOOT_ID"), short_name("__")
    ('unit', 'boot_id', '__')
    """
    return _NAMED.get(field, field.lstrip("_").lower()) or field


def is_of_journal(field: str) -> bool:
    """Whether the journal itself knows a field: no client can write it."""
    return field.startswith("_")
