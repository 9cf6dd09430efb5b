"""One record of any Hadoop history, and how its ids, times and names are read.

Every reader of Hadoop histories brings its records to this form, with the field names of Hadoop 2,
so that the same thing is called the same whichever log it comes from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.times import LAST_SECOND

TIME_FIELDS = frozenset(
    {
        "startTime",
        "submitTime",
        "launchTime",
        "finishTime",
        "mapFinishTime",
        "shuffleFinishTime",
        "sortFinishTime",
    }
)
FIRST_BEYOND_TIME = (LAST_SECOND + 1) * 1_000
"""The first millisecond since the epoch that is after the year 9999."""

_ATTRIBUTES = {
    "jobid": "job_id",
    "taskid": "task_id",
    "userName": "user",
    "jobQueueName": "queue",
    "taskStatus": "status",
    "rackname": "rack",
    "hostname": "node_raw",
    "trackerName": "node_raw",
    "nodeManagerHost": "node_raw",
    "vMemKbytes": "virtual_memory_kbytes",
    "physMemKbytes": "physical_memory_kbytes",
}
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)
_MAKE_ENCODER = getattr(json.encoder, "c_make_encoder", None)
# `_COMPACT` makes one anew for each value, which takes longer than most.  What was parsed is no circle.
_ENCODE = _MAKE_ENCODER and _MAKE_ENCODER(
    None, str, json.encoder.encode_basestring, None, ":", ",", False, False, True
)
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENTITY_ID = re.compile(r"(?:job|task|attempt|appattempt|container(?:_e\d+)?)_(\d+_\d+)(?:_|$)")
IDS_OF_JOBS = ("taskid", "attemptId", "applicationAttemptId", "containerId")
_LONGEST_ID = 100
_TASK_OF_ATTEMPT = re.compile(r"attempt_(\d+_\d+_[a-z]+_\d+)_\d+")


class Record(NamedTuple):
    """One record: its line in the file, its type such as `TASK_STARTED`, its fields by Hadoop's names.

    `line` is None where records have no lines.
    """

    line: int | None
    kind: str
    fields: Mapping[str, Any]


def job_id(fields: Mapping[str, Any]) -> str | None:
    """The job that a record speaks of: as given, else as it follows from another id."""
    given = text(fields.get("jobid"))
    if given:
        return given
    return next(filter(None, (job_of(fields.get(name)) for name in IDS_OF_JOBS)), None)


@lru_cache(maxsize=4_096)
def _job_of(entity: str) -> str | None:
    found = _ENTITY_ID.match(entity)
    return f"job_{found[1]}" if found else None


def job_of(value: Any) -> str | None:
    """The job whose number is in the id of something else.

    Examples
    --------
    >>> job_of("attempt_1329348432655_0001_m_000004_1"), job_of(None)
    ('job_1329348432655_0001', None)
    """
    if not isinstance(value, str):
        return None
    # Ids come again and again; what is longer than any of them is not remembered.
    return _job_of(value) if len(value) <= _LONGEST_ID else _job_of.__wrapped__(value)


def task_id(fields: Mapping[str, Any]) -> str | None:
    """The task that a record speaks of: as given, else as it follows from the attempt's id."""
    return text(fields.get("taskid")) or task_of(fields.get("attemptId"))


def task_of(attempt: Any) -> str | None:
    """The task of an attempt.

    Examples
    --------
    >>> task_of("attempt_1329348432655_0001_m_000004_1")
    'task_1329348432655_0001_m_000004'
    """
    found = _TASK_OF_ATTEMPT.fullmatch(attempt) if isinstance(attempt, str) else None
    return f"task_{found[1]}" if found else None


@lru_cache(maxsize=4_096)
def attribute_name(field: str) -> str:
    """The attribute that a field becomes.

    Examples
    --------
    >>> attribute_name("hdfsBytesRead"), attribute_name("hostname")
    ('hdfs_bytes_read', 'node_raw')
    """
    return _ATTRIBUTES.get(field) or _CAPITAL.sub("_", field).lower()


def scalar(name: str, value: Any) -> Value:
    """A field as an attribute: missing times and empty collections null, nested values JSON text."""
    if name in TIME_FIELDS and micros(value) is None:
        return None
    if isinstance(value, dict | list):
        return json_text(value) if value else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    known: Value = value
    return known


def json_text(value: Any) -> str:
    """The value as compact JSON; raises RecursionError when it is nested too deeply."""
    return "".join(_ENCODE(value, 0)) if _ENCODE else _COMPACT.encode(value)


def micros(value: Any) -> int | None:
    """Epoch milliseconds as microseconds; None when missing (0 or less, no integer, after the year 9999)."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < FIRST_BEYOND_TIME:
        return None
    return value * 1000


def text(value: Any) -> str | None:
    """The value where it is text that says something."""
    return value if isinstance(value, str) and value else None


def rack_of(host: str | None) -> str | None:
    """The rack in a host that is written as `/rack/host`.

    Examples
    --------
    >>> rack_of("/default-rack/n7"), rack_of("n7"), rack_of("tracker_n7:localhost/127.0.0.1:41234")
    ('/default-rack', None, None)
    """
    return host.rpartition("/")[0] or None if host and host.startswith("/") else None
