"""An archive of the Java classes that Spark loads while it starts, so that Java need not load them anew.

Half the processor time of a small match on Spark is Java reading, checking and linking some ten
thousand classes.  Java can map them from an archive that an earlier run has recorded (class data
sharing, JEP 350).  Java itself looks whether an archive fits its version and the jars, and does
without one that does not; the name says so, too, so that several installations can have theirs.
"""

from __future__ import annotations

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path

from cepctl.process.trust.ownership import unsafe_because
from cepctl.runners.spark.java import Java

# An archive that does not fit is no concern of the user's.
_SILENT = "-Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"


def archives_of(java: Java) -> list[Path]:
    """The whole archives for this Java and this Spark, in the user's cache directory; one as a rule.

    What is in them is run, so those that somebody else could have written are passed over.
    """
    found = sorted(_cache().glob(f"{_stem(java)}-*.jsa"))
    if not found or unsafe_because(_cache()) is not None:
        return []
    whole = [path for path in found if path == archive_name(java, path.stat().st_size)]
    return [path for path in whole if unsafe_because(path) is None]


def archive_name(java: Java, size: int) -> Path:
    """The path of an archive of this many bytes: Java dies of a truncated one, so its name tells its size."""
    return _cache() / f"{_stem(java)}-{size}.jsa"


def using_options(java: Java) -> str:
    """Java options that use an archive; empty where there is none."""
    usable = [path for path in archives_of(java) if " " not in str(path)]
    return f"-XX:SharedArchiveFile={usable[0]} {_SILENT}" if usable else ""


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "cepctl")


def _stem(java: Java) -> str:
    from importlib.metadata import version

    spec = find_spec("pyspark")
    installed = "" if spec is None or spec.origin is None else spec.origin
    parts = (str(java.home), java.full_version, installed, version("pyspark"))
    return f"spark-classes-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}"


def recording_options(archive: Path) -> str:
    """Java options that write an archive of all classes loaded, when Java ends."""
    return f"-XX:ArchiveClassesAtExit={archive}"
