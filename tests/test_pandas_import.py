"""pandas is kept out of a short command, and is there again when Spark asks for it."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import importlib.util, sys
from cepctl.pandas_import import keep_pandas_out, let_pandas_in
keep_pandas_out()
import polars, pyarrow as pa
print(pa.array([1, 2]).to_pylist(), "pandas" in sys.modules, bool(importlib.util.find_spec("pandas")))
let_pandas_in()
import pandas
print(int(pandas.Series([1, 2]).sum()))
"""


def test_arrow_works_without_pandas_which_can_be_imported_later() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "[1, 2] False True\n3\n"
