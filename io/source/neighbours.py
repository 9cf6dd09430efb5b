"""Files of a set that differ in a date alone, as rotated logs do: one without it has neighbours with it.

syslog               its neighbours are    syslog-20260607.gz, syslog-20260614.gz
app.log                                    app-2026-06-14.log, app.log.2026-06-14
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

from cepctl.io.source.locations import InputFile
from cepctl.io.source.missing_years import DATE, day_in_name

_COMPRESSED = re.compile(r"\.(?:gz|bz2|xz|zst|lz4|zip)$")
_BETWEEN = re.compile(r"[-_.]+")


def dated_neighbours(files: Sequence[InputFile]) -> list[str | None]:
    """For each file without a date in its name, that one of its neighbours which has the latest, or None."""
    latest: dict[tuple[str, str], tuple[int, str]] = defaultdict(lambda: (0, ""))
    for file in files:
        day = day_in_name(file.name)
        if day is not None:
            latest[_set_of(file)] = max(latest[_set_of(file)], (day, PurePosixPath(file.name).name))
    return [
        None if day_in_name(file.name) is not None else latest[_set_of(file)][1] or None for file in files
    ]


def _set_of(file: InputFile) -> tuple[str, str]:
    """The folder of a file, and its name without a date."""
    path = PurePosixPath(file.name)
    # Files that were named one by one have no folder in their names.
    folder = str(path.parent) if path.parent.name else file.location.uri.rpartition("/")[0]
    return folder, _BETWEEN.sub(".", DATE.sub("", _COMPRESSED.sub("", path.name))).strip(".")
