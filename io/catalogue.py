"""What every format gives: the page that `cepctl formats` shows.

Formats that a user may well have, but that no reader is there for, are named too, with what to do
instead, so that nobody has to find out by trying.
"""

from __future__ import annotations

from dataclasses import dataclass

from cepctl.errors import LogFormatError
from cepctl.io.formats import format_named, known_formats

_UNSUPPORTED: dict[str, tuple[str, str]] = {
    "mxml": ("MXML event log, the predecessor of XES", "convert it to XES, for example with ProM"),
    "clock-logs": (
        "what chrony, ntpd, linuxptp and Prometheus log of the error of clocks",
        "make a table of it with cepctl clocks LOG -o CLOCKS, from which a model takes the clocks of events",
    ),
    "rrd-fetch": (
        "values of a round robin database as rrdtool fetch, xport or ganglia-web print them",
        "name the database itself (FILE.rrd), or a dump of it: rrdtool dump FILE.rrd > FILE.xml",
    ),
    "xlsx": ("spreadsheet", "save the sheet as CSV, and name its columns with --map"),
}


@dataclass(frozen=True)
class FormatFacts:
    """One format: what it is, what its events are, and how far their times are trusted.

    `uncertainty` is the default without a model.  Where `supported` is false, `events` is empty and
    `remedy` says what to do instead.  `example` is a short file of the format, and `kinds` are logs of it
    that have names of their own.
    """

    name: str
    description: str
    events: str = ""
    uncertainty: str = ""
    supported: bool = True
    remedy: str = ""
    example: str = ""
    kinds: tuple[str, ...] = ()


def all_formats() -> tuple[FormatFacts, ...]:
    """Every format that is read, in the order in which it is looked for, then those that are not."""
    supported = [
        FormatFacts(
            known.name,
            known.description,
            known.events,
            known.uncertainty,
            example=known.example,
            kinds=known.kinds,
        )
        for known in known_formats()
    ]
    unsupported = [
        FormatFacts(name, description, supported=False, remedy=remedy)
        for name, (description, remedy) in _UNSUPPORTED.items()
    ]
    return (*supported, *unsupported)


def example_of(name: str) -> str:
    """A short file of a format; raises LogFormatError for a name that there is not, or that is not read."""
    if name in _UNSUPPORTED:
        raise LogFormatError(f"the format '{name}' is not read; {_UNSUPPORTED[name][1]}")
    return format_named(name).example
