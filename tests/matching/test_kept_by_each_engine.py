"""Which rows are kept is asked as a whole of whoever finds them: a new filter holds in every engine."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.kept import KeptRows, RowStarts
from cepctl.language.parser import parse
from cepctl.matching.execution import Execution, RunnerChoice
from cepctl.matching.inputs import open_events
from cepctl.matching.run import find_rows
from cepctl.numeric.arrays import Flags
from cepctl.plan.analyze import analyze
from cepctl.plan.choices import Engine

EVENTS = "event_type,lower,upper,id\nA,0,0,p\nA,1,1,p\nA,2,2,q\nA,4,4,q\nA,5,5,r\n"


class EvenStarts(KeptRows):
    """Rows that start at even ticks, which no option asks for."""

    @property
    def all_are(self) -> bool:
        """Never."""
        return False

    def among(self, rows: RowStarts) -> Flags:
        """Which rows do."""
        return np.asarray(rows.start % 2 == 0)


@pytest.mark.parametrize(
    ("query", "engine", "starts"),
    [
        *(("SEQ(A a)", engine, [0, 2, 4]) for engine in get_args(Engine)),
        *(("SEQ(A a) GROUP BY a.id", engine, [0, 2]) for engine in ("event", "worlds")),
    ],
)
def test_rows_that_are_left_out_are_found_by_no_engine(
    query: str, engine: Engine, starts: list[int], tmp_path: Path
) -> None:
    (tmp_path / "events.csv").write_text(EVENTS)
    execution = Execution(engine, RunnerChoice("local", "local[*]", ()), verbose=False)
    with open_events([str(tmp_path / "events.csv")]) as inputs:
        plan = analyze(parse(f"PATTERN {query}"), inputs.schema)
        rows = find_rows(plan, inputs, MatchOptions(kept=EvenStarts()), execution, tmp_path).table()
    assert sorted(rows.column("start").to_pylist()) == starts
