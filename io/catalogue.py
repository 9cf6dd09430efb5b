"""What every format gives: the page that `cepctl formats` shows.

Formats that a user may well have, but that no reader is there for, are named too, with what to do
instead, so that nobody has to find out by trying.
"""

from __future__ import annotations

from dataclasses import dataclass

from cepctl.io.formats import known_readers

_PLAIN = "what event_type says; every other column an attribute"
_GIVEN = "none: lower and upper as given, or time to the tick"
_MILLISECOND = "1 ms"
_HADOOP = (
    "JobSubmit, JobStart, TaskStart, MapAttemptStart, MapAttemptFinish, JobFinish, ...; with --intervals "
    "also Job, Task, TaskAttempt"
)
_SERIES = "one type per metric, summary:METRIC for sums over hosts; value, node, cluster, resolution"
_STEP = "the span that each value is the average of"

# Of every reader: the events that it gives, and how far their times are trusted without a model.
_EVENTS: dict[str, tuple[str, str]] = {
    "csv": (_PLAIN, _GIVEN),
    "tsv": (_PLAIN, _GIVEN),
    "jsonl": (_PLAIN + ", nested ones as JSON", _GIVEN),
    "parquet": (_PLAIN, _GIVEN),
    "jhist": (_HADOOP, _MILLISECOND),
    "jhist1": (_HADOOP, _MILLISECOND),
    "rumen": (_HADOOP, _MILLISECOND),
    "sls": (
        "JobSubmit, MapAttemptStart, MapAttemptFinish, ContainerStart, ..., JobFinish, counted from --epoch; "
        "with --intervals also Job, TaskAttempt",
        _MILLISECOND,
    ),
    "ganglia": (
        "one type per metric (cpu_user, load_one, ...); value, node, cluster",
        "from TMAX before the sample arrived to 2 s after",
    ),
    **dict.fromkeys(("rrd", "rrd-dump", "rrd-fetch"), (_SERIES, _STEP)),
    "rrd-xport": ("one type per label of the legend; value, node, cluster, resolution", _STEP),
    **dict.fromkeys(
        ("ganglia-csv", "ganglia-json"),
        ("one type per label of the graph; value, node, cluster, resolution", _STEP),
    ),
    "xes": (
        "one type per activity; case_id, the attributes of event and trace; with --intervals "
        "activities from start to end",
        "1 ms; one day where every time of the file is a local midnight",
    ),
    "log4j": (
        "AttemptTransition, ContainerAssign, BlockReceiveStart, ConnectRetry, ... and those of --patterns; "
        "with --keep-unmatched LogLine for all other records",
        "as written: 1 ms, or 1 s",
    ),
}

_UNSUPPORTED: dict[str, tuple[str, str]] = {
    "mxml": ("MXML event log, the predecessor of XES", "convert it to XES, for example with ProM"),
    "ocel": ("object-centric event log (OCEL, JSON or XML)", "flatten it to one kind of case, as XES or CSV"),
    "xlsx": ("spreadsheet", "save the sheet as CSV, and name its columns with --map"),
}


@dataclass(frozen=True)
class FormatFacts:
    """One format: what it is, what its events are, and how far their times are trusted.

    `uncertainty` is the default without a model.  Where `supported` is false, `events` is empty and
    `remedy` says what to do instead.
    """

    name: str
    description: str
    events: str = ""
    uncertainty: str = ""
    supported: bool = True
    remedy: str = ""


def known_formats() -> tuple[FormatFacts, ...]:
    """Every format that is read, in the order in which it is looked for, then those that are not."""
    supported = [
        FormatFacts(reader.name, reader.description, *_EVENTS[reader.name]) for reader in known_readers()
    ]
    unsupported = [
        FormatFacts(name, description, supported=False, remedy=remedy)
        for name, (description, remedy) in _UNSUPPORTED.items()
    ]
    return (*supported, *unsupported)
