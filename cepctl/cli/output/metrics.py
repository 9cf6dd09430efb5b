"""The figures of the last run as a file that Prometheus' node_exporter collects.

The textfile collector reads `*.prom` files whose metrics are named and labelled differently from
all others, and must never see half of one: every metric has the label `task`, the name of the file,
and the file is renamed into place.  It is written when a run succeeds, so that the age of
`cepctl_last_success_timestamp_seconds` tells of failures.

    https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cepctl.cli.output.rows import write_whole
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    from cepctl.ingestion.summary import IngestSummary


_METRICS = {
    "events": ("cepctl_events", "Events that the last run read."),
    "matches": ("cepctl_matches", "Matches that the last run wrote."),
    "rejects": ("cepctl_rejects", "Bad records that the last run left out."),
    "late": ("cepctl_late_events", "Events below the watermark in the last run."),
    "seconds": ("cepctl_run_seconds", "How long the last run took."),
    "watermark": ("cepctl_watermark_timestamp_seconds", "No event before this time is still awaited."),
}
_SUCCESS = ("cepctl_last_success_timestamp_seconds", "When the last run that succeeded ended.")


def metrics_text(figures: RunFigures, task: str, finished: float) -> str:
    r"""The figures in Prometheus' text format, all of them gauges.

    `figures`: of the run; what it has not gets no metric.  `task`: value of the label `task`.  `finished`:
    when the run ended, seconds since 1970 UTC.

    Examples
    --------
    >>> print(metrics_text(RunFigures(events=7, rejects=0, seconds=0.5), "nightly", 9.0), end="")
    # HELP cepctl_events Events that the last run read.
    # TYPE cepctl_events gauge
    cepctl_events{task="nightly"} 7
    # HELP cepctl_rejects Bad records that the last run left out.
    # TYPE cepctl_rejects gauge
    cepctl_rejects{task="nightly"} 0
    # HELP cepctl_run_seconds How long the last run took.
    # TYPE cepctl_run_seconds gauge
    cepctl_run_seconds{task="nightly"} 0.5
    # HELP cepctl_last_success_timestamp_seconds When the last run that succeeded ended.
    # TYPE cepctl_last_success_timestamp_seconds gauge
    cepctl_last_success_timestamp_seconds{task="nightly"} 9.0
    """
    known = figures.known()
    shown = [(*described, known[name]) for name, described in _METRICS.items() if name in known]
    label = task.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return "".join(
        f'# HELP {name} {text}\n# TYPE {name} gauge\n{name}{{task="{label}"}} {value!r}\n'
        for name, text, value in [*shown, (*_SUCCESS, finished)]
    )


def write_metrics(file: str | None, figures: RunFigures) -> None:
    """Write the metrics of a run that succeeded, if a file was asked for."""
    if file is None:
        return
    text = beside(SideFigure.METRICS, lambda: metrics_text(figures, Path(file).stem, time.time()), None)
    if text is not None:
        write_whole(file, [text.encode()])


@dataclass(frozen=True)
class RunFigures:
    """What a run took in and gave out.

    `events` are those it read (with --state those that were new), `rejects` the bad records that it
    left out, `seconds` its length by the clock.  None is what such a run has not: `matches` (the rows
    written) in an ingest, `late` events and the `watermark` (seconds since 1970 UTC) without --state,
    the `relevant` events that predicates on single ones leave and, on Spark, the `slices` elsewhere.
    """

    events: int
    rejects: int
    seconds: float
    matches: int | None = None
    late: int | None = None
    watermark: float | None = None
    relevant: int | None = None
    slices: int | None = None

    def known(self) -> dict[str, int | float]:
        """The figures that such a run has, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def rejects_in(summary: IngestSummary | None) -> int:
    """How many records were left out as bad; there are none where nothing raw was read."""
    return 0 if summary is None else summary.rejected.total()
