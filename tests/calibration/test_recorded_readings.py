"""Readings of recorded clocks: which ones the rule takes back to a truth, and that it is right about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cepctl
from cepctl.calibration.recorded_readings import fitting_readings
from cepctl.clocks.shared import clocks_of
from cepctl.numeric.arrays import Indexes, Ticks
from cepctl.schema import MILLISECOND
from cepctl.uncertainty.clock_records import read_records
from cepctl.uncertainty.recorded_offsets import RecordedOffset
from tests.calibration.blurred_worlds import before, pairs

HEAD = "host,from,to,ahead,ahead_to,low,high,sd,epoch,segment,jump\n"
MS = 1_000_000
RULE = '[[rule]]\nclock = { by = "node", from = "clocks.csv" }\n'

Piece = tuple[int, int, int, int, int, int]
"""From, to, estimate at both ends, low and high, in ms; a segment each."""


def table(pieces: list[Piece], host: str = "n", *, by_epoch: bool = False) -> str:
    rows = (
        f"{host},{begin * MS},{end * MS},{ahead * MS},{ahead_to * MS},{low * MS},{high * MS},"
        f",1,{1 if by_epoch else number},\n"
        for number, (begin, end, ahead, ahead_to, low, high) in enumerate(pieces, 1)
    )
    return "".join(rows)


def recorded_by(folder: Path, pieces: list[Piece]) -> RecordedOffset:
    (folder / "clocks.csv").write_text(HEAD + table(pieces))
    return RecordedOffset(read_records(folder / "clocks.csv"))


def moved(piece: Piece, reading: int) -> int:
    """The estimate at a reading to the nearest tick, halves up."""
    begin, end, ahead, ahead_to, *_ = piece
    return floor(ahead + Fraction(ahead_to - ahead) * (reading - begin) / (end - begin) + Fraction(1, 2))


def masses(piece: Piece) -> dict[int, Fraction]:
    """The offset as the rule has it: half a tick wider on both sides where the estimate is not one tick."""
    _, _, ahead, ahead_to, low, high = piece
    wider = 0 if ahead == ahead_to else 1
    ticks = range(-high - wider, -low + wider + 1)
    return {tick: Fraction(1, len(ticks)) for tick in ticks}


def worlds(pieces: list[Piece]) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """All offsets of the pieces, with their probability."""
    for chosen in product(*(masses(piece).items() for piece in pieces)):
        weight = Fraction(1)
        for _, mass in chosen:
            weight *= mass
        yield weight, tuple(tick for tick, _ in chosen)


def fitting(recorded: RecordedOffset, truths: list[int], offsets: tuple[int, ...]) -> list[list[int]]:
    """The readings that fit each truth, as the module finds them."""

    def of_pieces(piece: Indexes) -> Ticks:
        return np.array(offsets, np.int64)[piece]

    found = fitting_readings(
        recorded, pa.array(["n"] * len(truths)), np.array(truths, np.int64), of_pieces, MILLISECOND
    )
    return [found.reading[found.event == row].tolist() for row in range(len(truths))]


def brought_back(pieces: list[Piece], truth: int, offsets: tuple[int, ...]) -> list[int]:
    """The same by trying every reading of every piece."""
    return [
        reading
        for piece, offset in zip(pieces, offsets, strict=True)
        for reading in range(piece[0], piece[1])
        if reading - moved(piece, reading) + offset == truth
    ]


@st.composite
def some_pieces(draw: st.DrawFn) -> list[Piece]:
    found, begin = [], draw(st.integers(-5, 5))
    for _ in range(draw(st.integers(1, 3))):
        end = begin + draw(st.integers(3, 12))
        steepest = (end - begin - 1) // 2
        ahead = draw(st.integers(-6, 6))
        ahead_to = ahead + draw(st.integers(-steepest, steepest))
        found.append((begin, end, ahead, ahead_to, draw(st.integers(-2, 0)), draw(st.integers(0, 2))))
        begin = end + draw(st.integers(0, 3))
    return found


@given(some_pieces())
def test_all_readings_that_the_rule_takes_back_are_found(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[Piece]
) -> None:
    recorded = recorded_by(tmp_path_factory.mktemp("records"), pieces)
    truths = list(range(-20, 60))
    for _, offsets in list(worlds(pieces))[::7]:
        expected = [brought_back(pieces, truth, offsets) for truth in truths]
        assert fitting(recorded, truths, offsets) == expected


@pytest.mark.parametrize(
    ("pieces", "inside"),
    [
        # Estimates that rise and fall by a tick every ten: readings fit twice, or not at all.
        ([(0, 60, 0, 6, -2, 1)], range(10, 50)),
        ([(0, 60, 6, 0, -2, 1)], range(10, 50)),
        ([(0, 60, 3, 3, -2, 2)], range(10, 50)),
        # Two segments: away from their border, nothing of the other tells.
        ([(0, 40, 0, 4, -1, 1), (40, 80, 4, 0, -2, 2)], [*range(10, 30), *range(50, 70)]),
    ],
)
def test_with_even_truths_the_rule_is_exactly_right_about_what_is_read(
    tmp_path: Path, pieces: list[Piece], inside: Any
) -> None:
    """P(truth | reading) over all truths, offsets and choices is the mass of the rule, in fractions."""
    recorded = recorded_by(tmp_path, pieces)
    truths = list(range(-30, 120))
    joint: dict[int, dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for weight, offsets in worlds(pieces):
        for truth, readings in zip(truths, fitting(recorded, truths, offsets), strict=True):
            for reading in readings:
                joint[reading][truth] += weight / len(readings)
    for reading in inside:
        piece = next(each for each in pieces if each[0] <= reading < each[1])
        own = reading - moved(piece, reading)
        total = sum(joint[reading].values())
        stated = {own + tick: mass for tick, mass in masses(piece).items()}
        assert {truth: mass / total for truth, mass in joint[reading].items()} == stated


def calibrated(
    folder: Path,
    clocks: str,
    rows: Sequence[tuple[str, str, str | None, int]],
    model: str = RULE,
    **options: Any,
) -> Any:
    """Events (type, key, node, ms) under a model beside its table; blurred ones go to `kept`."""
    (folder / "clocks.csv").write_text(HEAD + clocks)
    (folder / "model.toml").write_text(model)
    kinds, keys, nodes, ticks = (list(each) for each in zip(*rows, strict=True))
    events = pa.table(
        {
            "event_id": [f"e{at:05}" for at in range(len(rows))],
            "event_type": kinds,
            "key": keys,
            "node": pa.array(nodes, pa.string()),
            "lower": ticks,
            "upper": ticks,
        }
    )
    return cepctl.calibrate(
        options.pop("query", None), events, by="key", model=folder / "model.toml", **options
    )


def kept(folder: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    place = folder / "kept"
    clocks = clocks_of(pq.read_schema(place / "part-00000.parquet").metadata)
    return pl.read_parquet(place / "*.parquet").sort("event_id"), dict(clocks)


# Of each host two segments of 100 s that are ahead by 20 to 30 ms and by -10 ms.
TWO = [(0, 100_000, 20, 30, -4, 6), (100_000, 200_000, -10, -10, -3, 3)]


@pytest.mark.parametrize("residual", ["", ', residual = "epoch"'])
def test_one_residual_for_all_that_a_segment_or_an_epoch_has_read(tmp_path: Path, residual: str) -> None:
    hosts = [f"n{at:02}" for at in range(20)]
    clocks = "".join(table(TWO, host) for host in hosts)
    rows = [("AB"[at % 2], host, host, 97 * at) for host in hosts for at in range(1, 2_000, 7)]
    model = RULE.replace('"clocks.csv"', f'"clocks.csv"{residual}')
    calibrated(tmp_path, clocks, rows, model, blurred=tmp_path / "kept")
    found, masses_of = kept(tmp_path)
    segments = 1 if residual else 2
    assert len(masses_of) == segments * len(hosts)
    ends = pl.DataFrame(
        [(name, each[0][0], each[-1][1]) for name, each in masses_of.items()],
        schema=["clock", "least", "most"],
        orient="row",
    )
    own = found.join(ends, on="clock").with_columns(own=pl.col("lower") - pl.col("least"))
    assert (own["own"] == own["upper"] - own["most"]).all()
    assert own.height == found.height
    offsets = own.group_by("clock", "least", "most").agg((pl.col("truth") - pl.col("own")).unique())
    assert offsets["truth"].list.len().to_list() == [1] * segments * len(hosts)
    drawn = offsets.with_columns(pl.col("truth").list.first())
    assert drawn["truth"].is_between(drawn["least"], drawn["most"]).all()
    assert drawn["truth"].n_unique() > 4


def test_the_readings_are_ahead_by_the_estimate(tmp_path: Path) -> None:
    rows = [("AB"[at % 2], "k", "n", 1_000 * at) for at in range(10, 90)]
    calibrated(tmp_path, table([(0, 100_000, 20, 30, 0, 0)]), rows, blurred=tmp_path / "kept")
    found, _ = kept(tmp_path)
    reading = found["time"].dt.epoch("ms")
    beside = reading - found["truth"] - (20 + reading / 10_000)
    # Half a tick by rounding, and one tick by which the offset is wider.
    assert beside.is_between(-1.5, 1.5).all()
    assert (reading - found["truth"]).n_unique() > 8
    assert (found["upper"] - found["lower"]).unique().to_list() == [2]


def test_pairs_are_stated_as_all_worlds_have_it(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    clocks = table([(0, 60, 3, 6, -2, 1), (60, 200, 8, 8, -3, 3)], "n") + table([(0, 200, 0, 10, -2, 2)], "m")
    for seed in range(1, 9):
        ticks = random.integers(5, 190, 24)
        rows = [
            ("ABC"[at % 3], "k", ["n", "m", None][int(random.integers(0, 3))], int(tick))
            for at, tick in enumerate(ticks)
        ]
        place = tmp_path / str(seed)
        place.mkdir()
        found = calibrated(place, clocks, rows, seed=seed, blurred=place / "kept")
        events, masses_of = kept(place)
        expected = [(before(a, b, masses_of), a["truth"], b["truth"]) for a, b in pairs(events.to_dicts())]
        is_open = [(s, one < other) for s, one, other in expected if 0 < s < 1 and one != other]
        assert (found.rows, found.open) == (len(expected), len(is_open))
        assert found.impossible_happened == 0
        shown = sorted((round(row.stated, 9), row.happened) for each in found.shown for row in each)
        assert shown == sorted((round(float(s), 9), y) for s, y in is_open)


@pytest.mark.parametrize("sd", ["", "30000000"])
def test_what_is_stated_of_recorded_clocks_is_right(tmp_path: Path, sd: str) -> None:
    """Each event on a clock of its own, which is ahead by tens of milliseconds, give or take 80."""
    random = np.random.default_rng(11)
    count, per_key = (4_000, 40) if sd == "" else (800, 20)
    clocks = "".join(
        f"n{at:04},0,20000000000,{int(a)},{int(b)},-80000000,60000000,{sd},1,1,\n"
        for at, (a, b) in enumerate(random.integers(-40_000_000, 40_000_000, (count, 2)))
    )
    ticks = random.integers(6_000, 14_000, count).tolist()
    rows = [("AB"[at % 2], f"k{at // per_key}", f"n{at:04}", ticks[at]) for at in range(count)]
    found = calibrated(tmp_path, clocks, rows)
    assert found.impossible_happened == 0
    assert found.open > 100
    for decile in found.scores.deciles:
        if decile.rows >= 20:
            assert decile.stated is not None
            assert decile.low is not None
            assert decile.high is not None
            # The intervals hold 95 % of the time, and all of them with three times their width.
            wide = decile.high - decile.low
            assert decile.low - wide <= decile.stated <= decile.high + wide


def test_what_no_reading_stands_for_is_left_out_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Behind by 10 s at the end of the records: their last readings are of times that it never has shown."""
    rows = [("AB"[at % 2], "k", "n", 1_000 * at) for at in range(100)]
    query = "PATTERN SEQ(A a, B b) WHERE [key] WITHIN 5 s"
    with caplog.at_level("INFO"):
        found = calibrated(
            tmp_path,
            table([(0, 100_000, 10_000, 10_000, -1, 1)]),
            rows,
            query=query,
            blurred=tmp_path / "kept",
        )
    left = [text for text in caplog.messages if "no reading of a recorded clock" in text]
    assert left == ["left out 10 events that no reading of a recorded clock stands for"]
    events, _ = kept(tmp_path)
    assert events["truth"].to_list() == [1_000 * at for at in range(90)]
    assert found.impossible_happened == 0
    assert found.rows > 0


def test_where_nothing_is_recorded_the_true_tick_stays(tmp_path: Path) -> None:
    rows = [("A", "k", "n", 50), ("B", "k", "n", 900), ("B", "k", "m", 51), ("B", "k", None, 52)]
    calibrated(tmp_path, table([(0, 100, 5, 5, -1, 1)]), rows, blurred=tmp_path / "kept")
    events, _ = kept(tmp_path)
    found = dict(zip(events["truth"], events.select("lower", "upper", "clock").rows(), strict=True))
    assert found.pop(50)[2] == "node=n#1"
    assert found == {900: (900, 900, None), 51: (51, 51, None), 52: (52, 52, None)}


def test_other_rules_beside_it_draw_as_ever(tmp_path: Path) -> None:
    model = (
        '[[rule]]\nevent_type = "B"\ninterval = { before = "1 ms", after = "2 ms" }\n'
        '[[rule]]\nclock = { by = "node", from = "clocks.csv" }\n'
        'latency = [["0 ms", "1 ms", 0.5], ["1 ms", "3 ms", 0.5]]\n'
        '[[rule]]\ninterval = { before = "5 ms", after = "5 ms" }\n'
    )
    rows = [("AB"[at % 2], "k", "nm"[at % 4 // 2], 100 * at) for at in range(1, 200)]
    calibrated(tmp_path, table([(0, 30_000, 5, 5, -1, 1)]), rows, model, blurred=tmp_path / "kept")
    events, _ = kept(tmp_path)
    assert events.height == 199
    assert ((events["lower"] <= events["truth"]) & (events["truth"] <= events["upper"])).all()
    told = events.group_by(
        "event_type", "node", (pl.col("upper") - pl.col("lower")).alias("width"), "clock"
    ).len()
    assert set(told.select("event_type", "node", "width", "clock").rows()) == {
        ("A", "n", 4, "node=n#1"),
        ("A", "m", 10, None),
        ("B", "n", 3, None),
        ("B", "m", 3, None),
    }


@pytest.mark.parametrize(
    ("pieces", "rule", "told"),
    [
        (
            TWO,
            RULE + 'granularity = "1 s"\n',
            "beside a granularity is not supported; leave the granularity out",
        ),
        (TWO, RULE.replace("[[rule]]", '[[rule]]\nevent_type = "A"') + RULE, "in two rules is not supported"),
        ([(0, 100, 0, 50, -1, 1)], RULE, "moves half as fast as time, as that of 'n' in .*clocks.csv"),
        ([(0, 100, 70_000, 70_000, -1, 1)], RULE, "no reading for any of 2 events"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, pieces: list[Piece], rule: str, told: str) -> None:
    rows = [("A", "k", "n", 20), ("B", "k", "n", 30)]
    with pytest.raises(cepctl.CepctlError, match=told):
        calibrated(tmp_path, table(pieces), rows, rule)
