"""What a small match does not load."""

from __future__ import annotations

import gc
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from cepctl.cli.start_up import light_start

SAYS_WHAT_IS_LOADED = (
    "import sys; from cepctl.cli import main; code = main(sys.argv[1:]); "
    "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr); sys.exit(code)"
)


def test_a_local_match_loads_neither_pandas_nor_spark_nor_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("event_type,lower,upper\nA,1,5\nB,3,7\n")
    query = ["PATTERN SEQ(A a, B b)", "events.csv", "--runner", "local", "-q"]
    match = [sys.executable, "-c", SAYS_WHAT_IS_LOADED, "match", *query]
    done = subprocess.run(match, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert len(done.stdout.splitlines()) == 2
    loaded = done.stderr.split()
    assert {"pyarrow", "polars", "cepctl"} <= set(loaded)
    assert not {"pandas", "pyspark", "rich", "duckdb", "matplotlib"} & set(loaded)


def test_pandas_is_there_for_spark_and_after_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in {"pandas", "pyspark"}]:
        monkeypatch.delitem(sys.modules, name)
    thresholds = gc.get_threshold()
    with light_start():
        with pytest.raises(ModuleNotFoundError, match="where PySpark does not ask"):
            import pandas  # noqa: F401
        monkeypatch.setitem(sys.modules, "pyspark", sys)
        spec = find_spec("pandas")
        assert spec is not None
        assert spec.origin is not None
    monkeypatch.delitem(sys.modules, "pyspark")
    after = find_spec("pandas")
    assert after is not None
    assert after.origin == spec.origin
    assert gc.get_threshold() == thresholds
