"""What the path of a log says about all its records: host, daemon, application, container.

hadoop-<user>-<daemon>-<host>.log, yarn-..., .log.3, .log.2015-10-18, .out    node, daemon
userlogs/application_.../container_.../syslog                                 application_id, container_id
userlogs/job_.../attempt_.../syslog (Hadoop 1)                                job_id, attempt_id
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

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
