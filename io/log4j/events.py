"""The attributes of log records: what patterns found in them, what follows from ids, what the path tells.

The path of a log says of all its records:

hadoop-<user>-<daemon>-<host>.log, yarn-..., .log.3, .log.2015-10-18, .out    node, daemon
userlogs/application_.../container_.../syslog                                 application_id, container_id
userlogs/job_.../attempt_.../syslog (Hadoop 1)                                job_id, attempt_id
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.hosts import node_names
from cepctl.io.source.message_patterns import TypedRecords
from cepctl.numeric.arrays import Flags

_DAEMONS = (
    "namenode|secondarynamenode|datanode|journalnode|zkfc|balancer|mover|nfs3|portmap|dfsrouter|"
    "resourcemanager|nodemanager|timelineserver|timelinereader|proxyserver|sharedcachemanager|router|"
    "registrydns|historyserver|jobtracker|tasktracker|httpfs|kms|master|regionserver|zookeeper"
)
_DAEMON_LOG = re.compile(
    rf"[a-z]+-(?:[^/]+?)-(?P<daemon>{_DAEMONS})-(?P<host>[^/]+?)\.(?:log|out)(?:[.-][^/]*)?"
)
_IDS = {
    "application_id": re.compile(r"(?:^|/)(application_\d+_\d+)(?=/)"),
    "container_id": re.compile(r"(?:^|/)(container_(?:e\d+_)?\d+_\d+_\d+_\d+)(?=/)"),
    "job_id": re.compile(r"(?:^|/)(job_\d+_\d+)(?=/)"),
    "attempt_id": re.compile(r"(?:^|/)(attempt_\d+_\d+_[a-z]_\d+_\d+)(?=/)"),
}


@dataclass(frozen=True)
class LogOrigin:
    """The host that wrote the log, its daemon, and the ids in its path; empty where the path is silent."""

    node_raw: str | None = None
    daemon: str | None = None
    ids: dict[str, str] = field(default_factory=dict)


def log_origin(path: str) -> LogOrigin:
    """What a path tells.

    Examples
    --------
    >>> log_origin("logs/hadoop-ha-doop-datanode-n-7.example.com.log.2").node_raw
    'n-7.example.com'
    >>> log_origin("userlogs/application_1_0002/container_1_0002_01_000003/syslog").ids
    {'application_id': 'application_1_0002', 'container_id': 'container_1_0002_01_000003'}
    """
    ids = {name: found[1] for name, regex in _IDS.items() if (found := regex.search(path))}
    found = _DAEMON_LOG.fullmatch(path.rpartition("/")[2])
    if not found:
        return LogOrigin(ids=ids)
    return LogOrigin(found["host"], found["daemon"], ids)


NODE = "node"
NODE_RAW = "node_raw"
_OWN_NODE = "own_node"
_NODE_SUFFIX = "_node"

# What an id says about the entities around it: id, its form, and the ids that follow from it.
_ATTEMPT = r"^attempt_(?P<task_id>(?P<job_id>\d+_\d+)_[a-z]_\d+)_\d+$"
_TASK = r"^task_(?P<job_id>\d+_\d+)_[a-z]_\d+$"
_CONTAINER = r"^container_(?:e\d+_)?(?P<application_id>\d+_\d+)_\d+_\d+$"
_APPLICATION_ATTEMPT = r"^appattempt_(?P<application_id>\d+_\d+)_\d+$"
_FOLLOWS = (
    ("attempt_id", _ATTEMPT),
    ("task_id", _TASK),
    ("container_id", _CONTAINER),
    ("application_attempt_id", _APPLICATION_ATTEMPT),
)
# Records that name one of these are about that one, not about whose log they stand in.
_OWN_ENTITY = ("attempt_id", "task_id", "container_id")


def attribute_columns(typed: TypedRecords, origin: LogOrigin, drop_domain: bool) -> dict[str, pa.Array]:
    """All attributes of the records as string columns, ids and hosts first.

    An attribute that the message gives wins over what follows from its ids, and that over the path.
    """
    columns = {name: typed.column(name) for name in typed.pieces}
    for name, form in _FOLLOWS:
        if name in columns:
            _add_following(columns, columns[name], form)
    _add_ids_of_path(columns, origin, len(typed.pattern))
    _add_nodes(columns, origin, drop_domain, len(typed.pattern))
    if origin.daemon is not None:
        _fill(columns, "daemon", pa.scalar(origin.daemon, pa.string()), len(typed.pattern))
    return columns


def _add_following(columns: dict[str, pa.Array], ids: pa.Array, form: str) -> None:
    encoded = ids.dictionary_encode()
    found = pc.extract_regex(encoded.dictionary, form)
    for field_ in found.type:
        prefix = field_.name.removesuffix("_id") + "_"
        named = pc.binary_join_element_wise(pa.scalar(prefix), found.field(field_.name), "")
        following = pc.if_else(found.is_valid(), named, pa.scalar(None, pa.string())).take(encoded.indices)
        known = columns.get(field_.name)
        columns[field_.name] = following if known is None else pc.coalesce(known, following)


def _add_ids_of_path(columns: dict[str, pa.Array], origin: LogOrigin, count: int) -> None:
    speaks_of_itself = np.ones(count, np.bool_)
    for name in _OWN_ENTITY:
        if name in columns:
            speaks_of_itself &= _flags(columns[name].is_null())
    for name, text in origin.ids.items():
        everywhere = name in ("application_id", "job_id")
        rows = pa.array(np.ones(count, np.bool_) if everywhere else speaks_of_itself)
        _fill(columns, name, pc.if_else(rows, text, pa.scalar(None, pa.string())), count)


def _add_nodes(columns: dict[str, pa.Array], origin: LogOrigin, drop_domain: bool, count: int) -> None:
    """Groups that name hosts, in the one spelling of hosts; `node` from the path where no group says it."""
    if origin.node_raw is not None:
        columns.pop(_OWN_NODE, None)
        _fill(columns, NODE, pa.scalar(origin.node_raw, pa.string()), count)
    elif _OWN_NODE in columns:
        _fill(columns, NODE, columns.pop(_OWN_NODE), count)
    if NODE in columns:
        columns[NODE_RAW] = columns[NODE]
    for name in [name for name in columns if name == NODE or name.endswith(_NODE_SUFFIX)]:
        columns[name] = node_names(columns[name], drop_domain)


def _fill(columns: dict[str, pa.Array], name: str, default: pa.Array | pa.Scalar, count: int) -> None:
    known = columns.get(name, pa.nulls(count, pa.string()))
    columns[name] = pc.coalesce(known, default)


def _flags(column: pa.Array) -> Flags:
    found: Flags = column.to_numpy(zero_copy_only=False).astype(np.bool_)
    return found
