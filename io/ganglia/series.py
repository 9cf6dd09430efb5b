"""Values of a metric over time as raw events: a value stamped t describes the span that ends at t.

RRD files and everything exported from them hold consolidated values, not samples: the value stamped t
is the average over (t - resolution, t].  Ticks being whole, that is the ticks t - resolution + 1 ... t,
and values that follow one another share no tick.

    event type      the metric, `summary:` before it where the values are sums over hosts
    metric          the metric
    value           the value; `value_text` instead where it is infinite
    node, node_raw  the host, null for summaries
    cluster         the cluster
    summary         whether the value is a sum over hosts
    hosts           how many hosts are in the sum
    resolution      seconds that a value stands for

Whose values a file of Ganglia holds, derived from its path: `<cluster>/<host>/<metric>.<suffix>`.

gmetad keeps one round-robin database per metric, below one folder per cluster and host, and puts the
sums over a cluster (and over the whole grid) into a folder of their own:

    rrds/<cluster>/<host>/<metric>.rrd               a metric of a host
    rrds/<cluster>/__SummaryInfo__/<metric>.rrd      its sum over the cluster
    rrds/__SummaryInfo__/<metric>.rrd                its sum over the grid

Whatever part of that path the name of the file shows is believed, and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa

from cepctl.event_table import TIME_TYPE
from cepctl.io.contract.batches import BATCH_EVENTS
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.reader import RAW_COLUMNS, ReadOptions
from cepctl.numeric.arrays import Indexes, Reals, Seconds

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


SUMMARY_PREFIX = "summary:"
UNKNOWN = "unknown value (NaN)"
# For `cepctl formats`.
EVENTS = "one type per metric, summary:METRIC for sums over hosts; value, node, cluster, resolution"
STEP = "the span that each value is the average of"
_SECOND = 1_000_000
_SUM, _NUMBER = "sum", "num"


@dataclass(frozen=True)
class Series:
    """Known values of one metric.

    Attributes
    ----------
    origin
        Whose values they are.
    stamps, begins, ends
        Shape (n,), epoch seconds: the value's time in the log, and the span (begins, ends] that it
        describes; `ends` is earlier than the stamp where finer values describe the rest.
    values
        Shape (n,), no NaN.
    resolution
        Shape (n,), the seconds of which each value is the average.
    hosts
        Shape (n,), the number of hosts that a sum adds up, NaN where unknown; None for host metrics.
    """

    origin: Origin
    stamps: Seconds
    begins: Seconds
    ends: Seconds
    values: Reals
    resolution: Seconds
    hosts: Reals | None = None


@dataclass(frozen=True)
class Columns:
    """Which columns of a file are which metric: (column, its origin, column of the hosts or None)."""

    metrics: tuple[tuple[int, Origin, int | None], ...]


def columns_of_sources(names: Sequence[str], origin: Origin) -> Columns:
    """Tell the data sources of a database apart.

    `sum` is the metric that the path names; `num` beside it makes it a summary.  A lone data source
    of another name is the path's metric, too; several are called `<metric>.<data source>`.
    """
    if _SUM in names:
        summary = origin.summary or set(names) == {_SUM, _NUMBER}
        number = names.index(_NUMBER) if summary and _NUMBER in names else None
        found = [(names.index(_SUM), replace(origin, summary=summary), number)]
        rest = [i for i in range(len(names)) if i not in (names.index(_SUM), number)]
    else:
        found = [(0, origin, None)] if len(names) == 1 else []
        rest = [] if len(names) == 1 else list(range(len(names)))
    named = [(i, replace(origin, metric=f"{origin.metric}.{names[i]}"), None) for i in rest]
    return Columns((*found, *named))


@dataclass
class SeriesEvents:
    """The events of one file, numbered from 1 as they come."""

    options: ReadOptions
    numbered: int = 0

    def batches(self, series: Series) -> Iterator[pa.RecordBatch]:
        """All events of a series, in batches of bounded size."""
        for start in range(0, len(series.stamps), BATCH_EVENTS):
            yield self._batch(series, slice(start, start + BATCH_EVENTS))

    def _batch(self, series: Series, rows: slice) -> pa.RecordBatch:
        origin = series.origin
        stamps = series.stamps[rows]
        count = len(stamps)
        numbers = np.arange(self.numbered + 1, self.numbered + 1 + count, dtype=np.int64)
        self.numbered += count
        plain = SUMMARY_PREFIX + origin.metric if origin.summary else origin.metric
        finite = np.isfinite(series.values[rows])
        columns: dict[str, pa.Array] = {
            "number": pa.array(numbers),
            "event_id": pa.nulls(count, RAW_COLUMNS["event_id"]),
            "event_type": _repeated(plain, count),
            "time": pa.array(stamps * _SECOND, mask=stamps <= 0).cast(TIME_TYPE),
            "zone_seconds": pa.array(np.zeros(count, np.int32)),
            "before": pa.array(self._before(stamps - series.begins[rows])),
            "after": pa.array((series.ends[rows] - stamps) * _SECOND),
            "metric": _repeated(origin.metric, count),
            "value": pa.array(series.values[rows], mask=~finite),
            "node": _repeated(node_name(origin.host, self.options.drop_domain), count),
            "node_raw": _repeated(origin.host, count),
            "cluster": _repeated(origin.cluster, count),
            "summary": _repeated(origin.summary, count),
            "resolution": pa.array(series.resolution[rows]),
        }
        if not finite.all():
            texts = np.where(series.values[rows] > 0, "inf", "-inf").astype(object)
            columns["value_text"] = pa.array(texts, pa.string(), mask=finite)
        if series.hosts is not None:
            columns["hosts"] = pa.array(series.hosts[rows], mask=np.isnan(series.hosts[rows]))
        return pa.RecordBatch.from_pydict(columns)

    def _before(self, seconds: Seconds) -> Indexes:
        """How far before its stamp a value reaches, in microseconds; the span is open at its begin."""
        micros = seconds * _SECOND
        tick = self.options.time_unit.nanoseconds // 1_000 or 1
        # A tick that does not divide the span holds its begin and more: it takes part.
        return np.where(micros % tick == 0, micros - tick, micros - 1)


def _repeated(value: str | bool | None, count: int) -> pa.Array:
    if value is None:
        return pa.nulls(count, pa.string())
    return pa.repeat(pa.scalar(value), count)
