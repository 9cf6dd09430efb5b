"""Pairs of events under every blur, against every world of each pair in rational arithmetic."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cepctl
from cepctl.calibration.result import Calibration
from cepctl.clocks.shared import clocks_of
from tests.calibration.blurred_worlds import before, pairs

MODEL = """
[[rule]]
event_type = "A"
latency = [["0 ms", "2 ms", 0.7], ["2 ms", "5 ms", 0.3]]

[[rule]]
event_type = "B"
clock = { by = "node", offset = { histogram = [["-2 ms", "0 ms", 0.25], ["0 ms", "3 ms", 0.75]] } }
interval = { before = "1 ms", after = "0 ms" }

[[rule]]
event_type = "C"
granularity = "4 ms"
"""
BLURS: list[dict[str, str]] = [
    {"coarsen": "3 ms"},
    {"coarsen": "7 ms"},
    {"jitter": "1 ms"},
    {"jitter": "2 ms"},
    {"clock": "by=node 2 ms"},
    {"model": MODEL},
]
events = st.lists(
    st.fixed_dictionaries(
        {
            "event_type": st.sampled_from("ABCD"),
            "key": st.sampled_from(["k1", "k2"]),
            "node": st.sampled_from(["n1", "n2", None]),
            "lower": st.integers(-4, 8),
        }
    ),
    min_size=2,
    max_size=6,
)


def blurred_pairs(
    drawn: list[dict[str, Any]], blur: dict[str, str], seed: int
) -> tuple[Calibration, list[dict[str, Any]], dict[str, Any]] | None:
    """The calibration of the pairs of events, and the events that it was made on, with their clocks."""
    schema = pa.schema([(name, pa.string()) for name in ("event_type", "key", "node")])
    schema = schema.append(pa.field("lower", pa.int64())).append(pa.field("upper", pa.int64()))
    table = pa.Table.from_pylist([{**each, "upper": each["lower"]} for each in drawn], schema)
    with tempfile.TemporaryDirectory() as folder:
        named = dict(blur)
        if "model" in named:
            place = Path(folder, "model.toml")
            place.write_text(named["model"])
            named["model"] = str(place)
        kept = Path(folder, "kept")
        try:
            found = cepctl.calibrate(None, table, by="key", seed=seed, blurred=kept, **named)  # type: ignore[arg-type]
        except cepctl.CepctlError as problem:
            assert "hides nothing" in str(problem) or "'node'" in str(problem)
            return None
        clocks = clocks_of(pq.read_schema(kept / "part-00000.parquet").metadata)
        return found, pl.read_parquet(kept / "*.parquet").to_dicts(), dict(clocks)


@given(events, st.sampled_from(BLURS), st.integers(1, 5))
def test_what_is_stated_and_what_happened_of_pairs(
    drawn: list[dict[str, Any]], blur: dict[str, str], seed: int
) -> None:
    made = blurred_pairs(drawn, blur, seed)
    if made is None:
        return
    found, kept, clocks = made
    expected = [(before(a, b, clocks), a["truth"], b["truth"]) for a, b in pairs(kept)]
    is_open = [(s, s_true < t_true) for s, s_true, t_true in expected if 0 < s < 1 and s_true != t_true]
    assert found.rows == len(expected)
    assert found.tied == sum(s == t for _, s, t in expected)
    assert found.open == len(is_open)
    assert found.certain == found.rows - found.tied - found.open
    assert found.impossible_happened == 0
    if is_open:
        brier = sum(((s - y) ** 2 for s, y in is_open), Fraction(0)) / len(is_open)
        assert found.scores.brier == pytest.approx(float(brier), abs=1e-12)
        assert found.scores.happened == pytest.approx(sum(y for _, y in is_open) / len(is_open))
    shown = sorted((round(row.stated, 9), row.happened) for rows in found.shown for row in rows)
    assert shown == sorted((round(float(s), 9), y) for s, y in is_open)


@given(events, st.sampled_from(BLURS), st.integers(1, 5))
def test_every_event_can_be_where_it_truly_is(
    drawn: list[dict[str, Any]], blur: dict[str, str], seed: int
) -> None:
    made = blurred_pairs(drawn, blur, seed)
    if made is None:
        return
    _, kept, _ = made
    assert sorted(each["truth"] for each in kept) == sorted(each["lower"] for each in drawn)
    assert all(each["lower"] <= each["truth"] <= each["upper"] for each in kept)
