"""Whose values a file of Ganglia holds, told from its path: `<cluster>/<host>/<metric>.<suffix>`.

gmetad keeps one round-robin database per metric, below one folder per cluster and host, and puts the
sums over a cluster (and over the whole grid) into a folder of their own:

    rrds/<cluster>/<host>/<metric>.rrd               a metric of a host
    rrds/<cluster>/__SummaryInfo__/<metric>.rrd      its sum over the cluster
    rrds/__SummaryInfo__/<metric>.rrd                its sum over the grid

Whatever part of that path the name of the file shows is believed, and no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

SUMMARY_FOLDER = "__SummaryInfo__"
_TREE_FOLDER = "rrds"


@dataclass(frozen=True)
class Origin:
    """A metric, and whose it is; host and cluster None where the path does not say."""

    metric: str
    host: str | None = None
    cluster: str | None = None
    summary: bool = False


def origin_of(source: str) -> Origin:
    """Read the path of a file.

    Examples
    --------
    >>> origin_of("rrds/web/n7.example.com/cpu_user.rrd")
    Origin(metric='cpu_user', host='n7.example.com', cluster='web', summary=False)
    >>> origin_of("rrds/__SummaryInfo__/load_one.rrd")
    Origin(metric='load_one', host=None, cluster=None, summary=True)
    >>> origin_of("n7/load_one.rrd.gz").metric
    'load_one'
    """
    path = PurePosixPath(source)
    folders = list(path.parts[:-1])
    if _TREE_FOLDER in folders:
        folders = folders[len(folders) - folders[::-1].index(_TREE_FOLDER) :]
    host = folders[-1] if folders else None
    cluster = folders[-2] if len(folders) > 1 else None
    summary = host == SUMMARY_FOLDER
    return Origin(_metric(path.name), None if summary else host, cluster, summary)


def _metric(name: str) -> str:
    """The file name without the suffixes of formats and compression; metrics may contain dots."""
    known = {".rrd", ".xml", ".json", ".csv", ".txt", ".gz", ".bz2", ".zst", ".dump", ".fetch", ".xport"}
    path = PurePosixPath(name)
    while path.suffix in known:
        path = path.with_suffix("")
    return path.name
