"""What a small match does not load."""

from __future__ import annotations

import copy
import dataclasses
import gc
import importlib
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from cepctl.process.start_up import compile_methods_late, light_start
from cepctl.runners.spark.session import Session

SAYS_WHAT_IS_LOADED = (
    "import sys; from cepctl.cli import main; code = main(sys.argv[1:]); "
    "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr); sys.exit(code)"
)


HEAVY = {"numpy", "pyarrow", "polars", "numba", "pyspark", "rich"}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (["--help-all"], 0),
        (["match", "--no-such-option"], 2),
        (["ingest", "--runner", "abacus"], 2),
        (["completion", "bash"], 0),
    ],
)
def test_help_completion_and_errors_of_usage_load_no_library_of_tables(
    asked: list[str], code: int, tmp_path: Path
) -> None:
    """The help of all commands imports them all."""
    run = [sys.executable, "-c", SAYS_WHAT_IS_LOADED, *asked]
    done = subprocess.run(run, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == code
    assert HEAVY & set(done.stderr.splitlines()[-1].split()) == set()


def test_a_local_match_loads_neither_pandas_nor_spark_nor_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("event_type,lower,upper\nA,1,5\nB,3,7\n")
    query = ["PATTERN SEQ(A a, B b)", "events.csv", "--runner", "local", "-q"]
    match = [sys.executable, "-c", SAYS_WHAT_IS_LOADED, "match", *query]
    done = subprocess.run(match, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert len(done.stdout.splitlines()) == 2
    loaded = done.stderr.split()
    assert {"pyarrow", "polars", "cepctl"} <= set(loaded)
    assert not {"pandas", "pyspark", "rich", "duckdb", "matplotlib"} & set(loaded)


def test_an_ingest_of_one_log_loads_neither_polars_nor_a_terminal_nor_numba(tmp_path: Path) -> None:
    log = Path(__file__).parents[2] / "sample_data" / "logs" / "gmond-1.xml"
    ingest = [
        sys.executable,
        "-c",
        SAYS_WHAT_IS_LOADED,
        "ingest",
        str(log),
        "-o",
        "events",
        "--runner",
        "local",
    ]
    done = subprocess.run(ingest, cwd=tmp_path, check=True, capture_output=True, text=True)
    loaded = done.stderr.splitlines()[-1].split()
    assert {"pyarrow", "numpy", "cepctl"} <= set(loaded)
    assert not {"pandas", "polars", "pyspark", "rich", "numba", "http"} & set(loaded)


def test_pandas_is_out_of_the_way_while_a_command_runs_and_there_again_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pandas.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    thresholds = gc.get_threshold()
    with light_start(), pytest.raises(ModuleNotFoundError, match="leaves pandas out"):
        importlib.import_module("pandas")
    assert find_spec("pandas") is not None
    assert gc.get_threshold() == thresholds


def test_methods_of_dataclasses_that_are_compiled_late_do_what_they_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if hasattr(dataclasses, "_create_fn"):  # up to Python 3.12
        monkeypatch.setattr(dataclasses, "_create_fn", dataclasses._create_fn)
    compile_methods_late()

    @dataclasses.dataclass(frozen=True, order=True)
    class Point:
        x: int
        y: int = 2
        names: list[str] = dataclasses.field(default_factory=list, compare=False)

    @dataclasses.dataclass(frozen=True)
    class Named(Point):
        name: str = ""

        def __post_init__(self) -> None:
            object.__setattr__(self, "name", self.name.upper())

    for _ in range(2):  # as it is when it is first called, and afterwards
        one, other = Named(1, name="a"), Point(y=3, x=1)
        assert repr(one).endswith("Named(x=1, y=2, names=[], name='A')")
        assert repr(other).endswith("Point(x=1, y=3, names=[])")
        assert one == Named(1, 2, [], "a") == copy.copy(one) != dataclasses.replace(one, x=2)
        assert one != other
        assert hash(other) == hash(Point(1, 3)) != hash(Point(1, 4))
        assert sorted([other, Point(1)]) == [Point(1), other]
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
            one.x = 3  # type: ignore[misc]
        with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required"):
            Point()  # type: ignore[call-arg]
    assert Point.__init__.__qualname__.endswith("Point.__init__")
    assert one.names is not Named(1).names


@pytest.mark.spark
def test_a_match_on_spark_loads_neither_pandas_nor_spark_sql(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("event_type,lower,upper\nA,1,5\nB,3,7\n")
    says = SAYS_WHAT_IS_LOADED.replace("name.partition('.')[0]", "name")
    match = [
        sys.executable,
        "-c",
        says,
        "match",
        "PATTERN SEQ(A a, B b)",
        "events.csv",
        "-q",
        "--runner",
        "spark",
    ]
    done = subprocess.run(match, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert len(done.stdout.splitlines()) == 2
    loaded = done.stderr.split()
    assert "pyspark" in loaded
    assert not {"pandas", "rich"} & set(loaded)


@pytest.mark.spark
def test_workers_on_this_machine_load_no_pandas(spark: Session) -> None:
    def loaded(_: int) -> bool:
        import pyarrow.dataset  # asks for pandas

        assert pyarrow.dataset
        return "pandas" in sys.modules

    assert spark.sparkContext.parallelize([0], 1).map(loaded).collect() == [False]
