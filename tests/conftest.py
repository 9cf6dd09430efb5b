"""Fixtures that several parts share (one Spark session, the real logs), and how random cases are drawn."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from _pytest.doctest import DoctestModule

from tests.kept_strategies import keep_strategies

if TYPE_CHECKING:
    from cepctl.runners.spark.session import Session


# A run under load is slow, not wrong.
hypothesis.settings.register_profile("fresh", deadline=None)
# The same cases every time: what passed does not fail a change that has nothing to do with it.
REPEATABLE = hypothesis.settings(deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("repeatable", REPEATABLE)
hypothesis.settings.register_profile("everyday", REPEATABLE, max_examples=15)


def pytest_configure(config: pytest.Config) -> None:
    """Where slow tests are left out, a property that states no number of cases has fewer of them."""
    repeatable = "everyday" if "not slow" in config.option.markexpr else "repeatable"
    hypothesis.settings.load_profile("fresh" if "CEPCTL_EXAMPLES" in os.environ else repeatable)
    # Who names the package itself has every module of it imported (scripts/test --lowest).
    if config.args_source is not pytest.Config.ArgsSource.ARGS or "cepctl" not in config.args:
        # As a plugin it is asked about files beside tests/, too.
        config.pluginmanager.register(ExamplesAlone())


class ExamplesAlone:
    """Leaves out files without examples where examples are looked for: each process would import them all."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """The collectors of a file without that of its examples, where it has none."""
        found = yield
        if not any(isinstance(each, DoctestModule) for each in found) or b">>> " in file_path.read_bytes():
            return found
        return [each for each in found if not isinstance(each, DoctestModule)]


# Before any module of tests makes strategies.
keep_strategies()

# Cycles are few.  To look for them as often as by default, among all modules and tests, took a sixth of
# the time.  Other numbers than those of cepctl, so that tests see whether it leaves them as they were.
gc.set_threshold(50_000, 40, 80)


# Java processes of tests live for seconds: they leave out what pays off for those that live for hours.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# A second thread for sums of a few numbers waits in a circle: learning a law in tests took twice as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Workers have to find what tests define, and do not import from the working directory.  A process has one
# Java process for all its sessions, with the environment of the moment in which some test started it.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--one-of-each` is for `scripts/test --quick`."""
    parser.addoption("--one-of-each", action="store_true", help="the first test of each file alone")


@pytest.hookimpl(trylast=True)  # after marks have left out theirs
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out all but the first test of each file, where that is asked for; what shares Spark comes first.

    The first of several processes then has all of these, and Spark starts in no other one.
    """
    if config.getoption("--one-of-each"):
        first = {item.path: item for item in reversed(items)}
        items[:] = [item for item in items if first[item.path] is item]
    items.sort(key=lambda item: "spark" not in getattr(item, "fixturenames", ()))


def pytest_collection_finish() -> None:
    """What is there before the first test stays to the end, and is not looked through for cycles."""
    gc.freeze()


@pytest.fixture(scope="session")
def spark() -> Iterator[Session]:
    """One Spark session for all tests of a process: Java starts slowly, and code under test reuses it.

    local[2]: two tasks at a time, so that an order which only one worker keeps shows.
    """
    from cepctl.runners.spark.session import spark_session

    with spark_session("local[2]") as session:
        yield session


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a `cepctl` that has started up already, for all tests of a process."""
    from tests.started_program import started_program

    with started_program(tmp_path_factory.mktemp("programs")) as folder:
        yield folder


@pytest.fixture(scope="session")
def real_logs() -> Path:
    """The directory of real logs that CEPCTL_REALDATA names; without it the test is skipped."""
    directory = os.environ.get("CEPCTL_REALDATA")
    if not directory:
        pytest.skip("CEPCTL_REALDATA is not set")
    return Path(directory)
