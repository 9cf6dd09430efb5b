"""An archive of the Java classes that Spark loads while it starts, so that Java need not load them anew.

Half the processor time of a small match on Spark is Java reading, checking and linking some ten
thousand classes.  Java can map them from an archive that an earlier run has recorded (class data
sharing, JEP 350).  Java itself looks whether an archive fits its version and the jars, and does
without one that does not; the name says so, too, so that several installations can have theirs.
"""

from __future__ import annotations

import hashlib
import os
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from cepctl.java import Java

# An archive that does not fit is no concern of the user's.
_SILENT = "-Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"


def archive_of(java: Java) -> Path:
    """Where the archive for this Java and this Spark is, or would be: in the user's cache directory."""
    spec = find_spec("pyspark")
    installed = "" if spec is None or spec.origin is None else spec.origin
    parts = (str(java.home), java.full_version, installed, version("pyspark"))
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "cepctl")
    return cache / f"spark-classes-{digest}.jsa"


def using_options(java: Java) -> str:
    """Java options that use the archive; empty where there is none."""
    archive = archive_of(java)
    return (
        f"-XX:SharedArchiveFile={archive} {_SILENT}" if archive.is_file() and " " not in str(archive) else ""
    )


def recording_options(archive: Path) -> str:
    """Java options that write an archive of all classes loaded, when Java ends."""
    return f"-XX:ArchiveClassesAtExit={archive}"
