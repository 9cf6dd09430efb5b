"""With and without the summary a command writes the same bytes and ends alike, whatever is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import strategies as st

from cepctl.cli import main
from tests.engines.agreement import FEW_EXAMPLES, check

EVENTS = """\
event_type,event_id,time,lower,upper,end_lower,end_upper,k,v
A,a1,2,0,4,,,x,1
A,a2,6,5,7,,,y,2
B,b1,9,7,10,,,x,3
B,b2,,8,13,,,y,1
C,c1,12,11,14,,,x,2
N,n1,4,3,8,,,x,2
N,n2,9,8,9,,,y,3
"""
LASTING = EVENTS.replace("N,n1,4,3,8,,", "N,n1,4,3,5,6,9").replace("B,b1,9,7,10,,", "B,b1,9,7,8,9,12")
FEW = [f"{line}\n" for line in EVENTS.splitlines() if line[:4] not in ("A,a2", "B,b2", "N,n2")]
"""For the engine that enumerates worlds."""
PATTERNS = (
    "SEQ(A a, B b)",
    "SEQ(A a, !N n, B b)",
    "SEQ(!N n, A a, B b)",
    "SEQ(A a, B b, !N n)",
    "SEQ(A a, !N n, AND(B b, C c))",
    "SEQ(A a, B+ b[], C c)",
    "OR(SEQ(A a, !N n, B b), SEQ(A a, C b))",
    "ISEQ(A a, !N n, B b)",
    "SEQ(A a, !N n, !N m, B b)",
)
CONDITIONS = (
    "[k]",
    "n.v > a.v",
    "n.end - n.start >= 2 ticks",
    "n.start < n.end",
    "prob(n.time > a.time) > 0.5",
    "prob(a.time < b.time) > 0.6",
    "prob(n.start < b.start AND n.end > a.end) >= 0.1",
    "b.time - a.time <= 8 ticks",
    "b[i].v >= b[i-1].v",
    "n.time - a.time > 1 ticks",
    "a.start < b.start",
)
CLAUSES = (
    "STRATEGY skip_till_next_match",
    "STRATEGY strict_contiguity",
    "CONFIDENCE >= 0.3",
    "GROUP BY a.k",
    "RETURN a.k, b.v",
    "RETURN reached(0.5)",
    "GIVEN SEQ(A a, B b) IF a.k = b.k",
)


@st.composite
def queries(draw: st.DrawFn) -> str:
    """Random constructs beside each other, also such as are refused; each clause once."""
    conditions = draw(st.lists(st.sampled_from(CONDITIONS), max_size=2, unique=True))
    clauses = draw(
        st.lists(st.sampled_from(CLAUSES), max_size=2, unique_by=lambda clause: clause.partition(" ")[0])
    )
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"PATTERN {draw(st.sampled_from(PATTERNS))}{where} WITHIN 15 ticks {' '.join(clauses)}".rstrip()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("quiet")
    (place / "points.csv").write_text(EVENTS)
    (place / "lasting.csv").write_text(LASTING)
    (place / "few.csv").write_text("".join(FEW))
    return place


def ran(*arguments: str) -> tuple[int, str]:
    """The exit code of a command, and what it wrote on standard output."""
    runner = CliRunner()
    with runner.isolation() as (out, _, _):
        try:
            code = main([*arguments, "--runner", "local"])
        except Exception as problem:  # a defect: as the program would end
            return 4, repr(problem)
        return code, out.getvalue().decode()


def test_rows_and_exit_code_are_those_of_a_quiet_run(place: Path) -> None:
    def agrees(drawn: tuple[str, str, tuple[str, ...]]) -> None:
        query, events, options = drawn
        events = "few.csv" if "worlds" in options else events
        command = ("match", query, str(place / events), *options)
        loud, quiet = ran(*command), ran(*command, "--quiet")
        if not quiet[1]:
            # A quiet run without rows leaves the header out, too.
            assert len(loud[1].splitlines()) <= 1
            assert loud[0] == quiet[0]
        else:
            assert loud == quiet

    files = st.sampled_from(["points.csv", "lasting.csv"])
    options = st.sampled_from([(), (), ("--top-k", "1"), ("--engine", "worlds"), ("--fail-on-match",)])
    check(st.tuples(queries(), files, options), agrees, 4 * FEW_EXAMPLES)


@pytest.mark.parametrize("condition", ["n.end - n.start >= 2 ticks", "prob(n.time > a.time) > 0.5"])
@pytest.mark.parametrize("events", ["points.csv", "lasting.csv"])
@pytest.mark.parametrize("grouped", ["", " GROUP BY a.k"])
def test_absences_with_conditions_of_their_own_have_a_summary(
    place: Path, condition: str, events: str, grouped: str
) -> None:
    command = ("match", f"PATTERN SEQ(A a, !N n, B b) WHERE {condition} WITHIN 15 ticks{grouped}")
    loud = ran(*command, str(place / events))
    assert loud == ran(*command, str(place / events), "-q")
    assert loud[0] == 0
    assert len(loud[1].splitlines()) > 1
