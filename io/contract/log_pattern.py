"""A pattern that makes events of log lines, as readers get it; how patterns are written is in `log4j`."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass


@dataclass(frozen=True)
class LogPattern:
    """One pattern; without `loggers`, `level` None, it looks at every record.

    `loggers` are globs, with regard to case; `attributes` the named groups of the regular expression.  In
    text of no known format, records begin at the lines that `begins` fits; None: each line is one.
    """

    event_type: str
    regex: str
    loggers: tuple[str, ...] = ()
    level: str | None = None
    attributes: tuple[str, ...] = ()
    begins: str | None = None

    def fits(self, logger: str) -> bool:
        """Whether records of this logger are looked at."""
        return not self.loggers or any(fnmatch.fnmatchcase(logger, glob) for glob in self.loggers)
