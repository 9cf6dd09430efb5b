"""Plain files of interval events on shared clocks: `end_pmf` is of the own part, `end_lower` of all ticks."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl import match
from cepctl.errors import EventSchemaError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.plan.choices import Engine

NAMES = "event_type,event_id,lower,upper,end_lower,end_upper,end_pmf,length_lower,clock,clock_offset"
POINT = "B,b,8,8,,,,,,"
AFTER = "PATTERN SEQ(A a, B b)"
Buckets = tuple[tuple[int, int, Fraction], ...]


def ingested(folder: Path, *rows: str) -> IngestSummary:
    (folder / "log.csv").write_text("\n".join((NAMES, *rows, "")))
    return ingest([str(folder / "log.csv")], str(folder / "events"), IngestOptions(overwrite=True))


def end(folder: Path) -> tuple[Any, ...]:
    row = next(r for r in pq.read_table(folder / "events").to_pylist() if r["event_id"] == "a")
    buckets = [(each["lo"], each["hi"]) for each in row["end_pmf"] or ()]
    return row["end_lower"], row["end_upper"], buckets


def confidences(folder: Path, query: str, engine: Engine = "worlds") -> list[float]:
    return [row["confidence"] for row in match(query, str(folder / "events"), engine=engine)]


@pytest.mark.parametrize("envelope", ["7,9", ","])
def test_a_histogram_of_an_end_is_that_of_its_own_part(tmp_path: Path, envelope: str) -> None:
    summary = ingested(tmp_path, f"A,a,5,6,{envelope},2:2:.5|3:3:.5,,n,5:6:1", POINT)
    assert not summary.rejected
    assert end(tmp_path) == (7, 9, [(2, 2), (3, 3)])
    # Only an end at 2 with the offset 5 is before 8.
    assert confidences(tmp_path, AFTER) == confidences(tmp_path, AFTER, "event") == [0.25]


def test_without_a_clock_a_histogram_spans_the_end_as_before(tmp_path: Path) -> None:
    ingested(tmp_path, "A,a,5,6,,,7:7:.5|9:9:.5,,,", "C,c,5,6,,,,,n,5:6:1")
    assert end(tmp_path) == (7, 9, [(7, 7), (9, 9)])


def test_an_end_that_its_own_part_and_its_clock_do_not_span_is_a_reject(tmp_path: Path) -> None:
    summary = ingested(tmp_path, "A,a,5,6,2,3,2:2:.5|3:3:.5,,n,5:6:1", POINT)
    assert summary.rejected == {"end_lower and end_upper are not the extremes of end_pmf": 1}


def test_an_end_narrower_than_the_offset_of_its_clock_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EventSchemaError, match=r"log\.csv:2: the end of the event has the interval 7\.\.8"):
        ingested(tmp_path, "A,a,1,9,7,8,,,n,-2:2:1")


def test_an_event_whose_own_end_lies_before_its_own_start_is_a_reject(tmp_path: Path) -> None:
    """Start 10..14 and end 9..13 overlap, but one clock of -2..2 stamped them: 12 and 11."""
    summary = ingested(tmp_path, "A,a,10,14,9,13,,,n,-2:2:1", POINT)
    assert summary.rejected == {"ends before its start": 1}


@st.composite
def histograms(draw: st.DrawFn, first: int) -> Buckets:
    buckets: list[tuple[int, int, Fraction]] = []
    for mass in draw(st.sampled_from([(4,), (1, 3), (1, 2, 1)])):
        last = first + draw(st.integers(0, 1))
        buckets.append((first, last, Fraction(mass, 4)))
        first = last + 1 + draw(st.integers(0, 2))
    return tuple(buckets)


def weights(buckets: Buckets) -> dict[int, Fraction]:
    return {tick: p / (hi - lo + 1) for lo, hi, p in buckets for tick in range(lo, hi + 1)}


def text(buckets: Buckets) -> str:
    return "|".join(f"{lo}:{hi}:{float(p)}" for lo, hi, p in buckets)


@given(
    start=st.integers(-3, 3),
    end=histograms(2),
    offset=st.one_of(histograms(-2), histograms(3)),
    limit=st.integers(-1, 9),
    written=st.booleans(),
)
def test_own_end_and_offset_are_told_apart(
    tmp_path_factory: pytest.TempPathFactory,
    start: int,
    end: Buckets,
    offset: Buckets,
    limit: int,
    written: bool,
) -> None:
    """The confidence of `A before B` is the sum over all offsets and all own ends of A."""
    folder = tmp_path_factory.mktemp("clocks")
    least, most = offset[0][0], offset[-1][1]
    envelope = f"{end[0][0] + least},{end[-1][1] + most}" if written else ","
    row = f"A,a,{start + least},{start + most},{envelope},{text(end)},,n,{text(offset)}"
    summary = ingested(folder, row, f"B,b,{limit},{limit},,,,,,")
    laws = product(weights(end).items(), weights(offset).items())
    kept = [(tick, shift, p * q) for (tick, p), (shift, q) in laws if tick >= start]
    whole = sum(p for _, _, p in kept)
    if not whole:
        assert summary.rejected == {"ends before its start": 1}
        return
    stored = next(r for r in pq.read_table(folder / "events").to_pylist() if r["event_id"] == "a")
    assert (stored["end_lower"], stored["end_upper"]) == (end[0][0] + least, end[-1][1] + most)
    right = sum(p for tick, shift, p in kept if tick + shift < limit) / whole
    found = confidences(folder, AFTER)
    assert found == ([pytest.approx(float(right), abs=1e-12)] if right else [])
