"""Recording the Java classes of a small match, so that Spark starts in half the processor time later on."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from cepctl.atomic.folders import temporary_folder
from cepctl.errors import JobError
from cepctl.process.trust.own_python import python_command
from cepctl.process.trust.ownership import make_private
from cepctl.runners.spark.java import find_java
from cepctl.runners.spark.java_classes import archive_name, archives_of, recording_options

_EVENTS = "event_type,event_id,lower,upper,k\nA,a,1,5,x\nB,b,3,7,x\n"
_QUERY = "PATTERN SEQ(A a, B b) WHERE a.k = b.k WITHIN 10 ticks"
# Java writes the archive when it ends, which the command does not wait for.
_PROGRAM = """
from cepctl.cli import main
code = main(sys.argv[1:])
from pyspark import SparkContext
gateway = SparkContext._gateway
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait()
sys.exit(code)
"""


@dataclass(frozen=True)
class Recorded:
    """The archive, its size in bytes, and how long recording it took."""

    archive: Path
    size: int
    seconds: float


def record_classes() -> Recorded:
    """Run a small match on Spark and keep its classes; an archive appears whole or not at all.

    Raises
    ------
    JobError
        If there is no Java, the match fails, or the archive cannot be written.
    """
    began = time.monotonic()
    java = find_java()
    cache = archive_name(java, 0).parent
    try:
        make_private(cache)
        for old in archives_of(java):
            old.unlink()  # Java records nothing while it uses one
        with temporary_folder(cache) as folder:
            aside = folder / "classes.jsa"
            events = folder / "events.csv"
            events.write_text(_EVENTS)
            setting = f"spark.driver.extraJavaOptions={recording_options(aside)}"
            match = ["match", _QUERY, str(events), "--runner", "spark", "--conf", setting]
            command = python_command(_PROGRAM, *match)
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode or not aside.is_file():
                raise JobError(
                    f"Java's classes were not recorded: {done.stderr.strip() or 'Java wrote none'}"
                )
            archive = aside.replace(archive_name(java, aside.stat().st_size))
    except OSError as problem:
        raise JobError(
            f"cannot write to {cache}: {problem.strerror}; set XDG_CACHE_HOME to a directory of yours"
        ) from problem
    return Recorded(archive, archive.stat().st_size, time.monotonic() - began)
