"""The members of a Spark event as attributes: groups of them opened, names in snake case.

member                                     attribute
Executor ID, executionId                   executor_id, execution_id
what Task Info, Stage Info, ... hold       the same, without the name of the group
what Task Metrics holds                    the same; groups in it keep theirs: shuffle_read_remote_bytes_read
Host                                       node, node_raw
anything else that is nested               JSON text
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.natural_columns import Value
from cepctl.io.source.json_objects import flat_value

_GROUPS = {
    "Task Info": "",
    "Task End Reason": "reason_",
    "Task Metrics": "",
    "Stage Info": "",
    "Executor Info": "",
    "Block Manager ID": "",
    "Job Result": "",
    "Exception": "",
    "Shuffle Read Metrics": "shuffle_read_",
    "Shuffle Write Metrics": "",
    "Input Metrics": "input_",
    "Output Metrics": "output_",
}
_NAMED = {
    "reason_reason": "reason",
    "reason_description": "error",
    "reason_kill_reason": "error",
    "failure_reason": "error",
    "message": "error",
    "error_message": "error",
    "attempt": "task_attempt",
    "index": "task_index",
}
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OTHERS = re.compile(r"[^0-9a-z]+")
_DEEPEST = 8


def attributes_of(members: Mapping[str, Any], drop_domain: bool) -> dict[str, Value]:
    """All members of an event but its name; the first that gives an attribute wins."""
    found: dict[str, Value] = {}
    for name, value in _opened(members, "", 0):
        if name == "host":
            found["node"] = node_name(value if isinstance(value, str) else None, drop_domain)
            found["node_raw"] = flat_value(value)
        else:
            found.setdefault(_NAMED.get(name, name), flat_value(value))
    found.pop("event", None)
    return found


def _opened(members: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for name, value in members.items():
        group = _GROUPS.get(name)
        if group is not None and isinstance(value, dict) and depth < _DEEPEST:
            yield from _opened(value, group, depth + 1)
        else:
            yield prefix + snake_case(name), value


def snake_case(name: str) -> str:
    """A name as attributes have it.

    Examples
    --------
    >>> snake_case("JVM GC Time"), snake_case("executionId"), snake_case("Stage ID")
    ('jvm_gc_time', 'execution_id', 'stage_id')
    """
    return _OTHERS.sub("_", _CAPITALS.sub("_", name).lower()).strip("_")
