"""Fixtures that several parts share (one Spark session, the real logs), and how random cases are drawn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from cepctl.spark.session import Session


# A run under load is slow, not wrong.
hypothesis.settings.register_profile("fresh", deadline=None)
# The same cases every time: what passed does not fail a change that has nothing to do with it.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("fresh" if "CEPCTL_EXAMPLES" in os.environ else "repeatable")


ROOT = str(Path(__file__).parents[1])


@pytest.fixture(autouse=True)
def workers_find_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers import what tests define, whichever test starts the Java process that starts them.

    A process has one Java process for all its sessions, with the environment of its first moment, and
    workers do not import from the working directory.
    """
    if request.node.get_closest_marker("spark"):
        monkeypatch.setenv("PYTHONPATH", ROOT, prepend=os.pathsep)


@pytest.fixture(scope="session")
def spark() -> Iterator[Session]:
    """One Spark session for all tests of a process: Java starts slowly, and code under test reuses it.

    local[2]: two tasks at a time, so that an order which only one worker keeps shows.
    """
    from cepctl.spark.session import spark_session

    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", ROOT, prepend=os.pathsep)
        with spark_session("local[2]") as session:
            yield session


@pytest.fixture(scope="session")
def real_logs() -> Path:
    """The directory of real logs that CEPCTL_REALDATA names; without it the test is skipped."""
    directory = os.environ.get("CEPCTL_REALDATA")
    if not directory:
        pytest.skip("CEPCTL_REALDATA is not set")
    return Path(directory)
