"""Next match of certain events by Flink's MATCH_RECOGNIZE, for scale: it knows no uncertain time.

Its Python package wants other versions of PyArrow and py4j than Spark, so it has an environment of its
own, whose Python the variable FLINK_PYTHON names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import polars as pl
from measuring import in_process, timed
from results import CheckFailed, Row, Setup, check_equal, left_out
from workloads import NEXT_ONE_PERCENT, appendix_c

from cepctl.cli import main

VARIABLE = "FLINK_PYTHON"
SMALL = 10_000


def flink(setup: Setup) -> Iterator[Row]:
    """The same matches from the same CSV file, to CSV."""
    size = setup.events(500_000, 20_000)
    case = f"{size:,} events, d = 0, next match, CSV to CSV"
    python = os.environ.get(VARIABLE)
    if python is None:
        yield left_out(case, f"apache-flink, in a Python that {VARIABLE} names,")
        return
    small, events = (_csv(setup.folder, count) for count in (SMALL, size))
    output = setup.folder / "flink_rows.csv"
    timing, _ = timed(setup, partial(_match, events, output))
    pattern = NEXT_ONE_PERCENT
    values = ",".join(map(str, pattern.values))
    theirs = in_process(
        "flink_once.py", *map(_bare, (small, events)), pattern.modulus, values, pattern.window, python=python
    )
    check_equal("rows of Flink", theirs["rows"], pl.read_csv(output).height)
    yield Row(
        case, timing, size, "events", ratio=theirs["seconds"] / timing.seconds,
        against="how many times longer Flink takes, on one thread, started and warm", checked="count",
        note=f"{theirs['rows']:,} matches; Flink {theirs['seconds']:.1f} s; cepctl ingests the file first",
    )  # fmt: skip


def _csv(folder: Path, count: int) -> Path:
    """Events as a plain file."""
    path = folder / f"flink_{count}.csv"
    table = appendix_c(count, 0).select(["event_id", "event_type", "lower", "upper", "val"])
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    frame.write_csv(path)
    return path


def _bare(path: Path) -> Path:
    """The same without a header and with what Flink reads."""
    bare = path.with_suffix(".bare.csv")
    pl.read_csv(path).select("event_id", "lower", "val").write_csv(bare, include_header=False)
    return bare


def _match(events: Path, output: Path) -> None:
    asked = ["match", NEXT_ONE_PERCENT.text, str(events), "-o", str(output), "--runner", "local", "--quiet"]
    if code := main(asked):
        raise CheckFailed(f"cepctl match ended with {code}")
