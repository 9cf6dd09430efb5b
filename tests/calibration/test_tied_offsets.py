"""Offsets of tied clocks are drawn as often as the worlds say that their ties leave."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cepctl
from cepctl.calibration.draws import tied_offsets
from cepctl.clocks.ties import Clocks, ClockTie, tied

NAMES = ("n#1", "n#2", "n#3")
offsets = st.sampled_from([((-3, 3, 1.0),), ((-4, -1, 0.25), (0, 2, 0.75)), ((1, 1, 0.5), (2, 4, 0.5))])


def worlds(clocks: Clocks, ties: Sequence[ClockTie]) -> dict[tuple[int, ...], float]:
    """The probability of each combination of offsets, by the names in order."""
    ticks = [
        {tick: p / (hi - lo + 1) for lo, hi, p in clocks[name] for tick in range(lo, hi + 1)}
        for name in NAMES
    ]
    place = {name: number for number, name in enumerate(NAMES)}
    left = {
        chosen: float(np.prod([own[tick] for own, tick in zip(ticks, chosen, strict=True)]))
        for chosen in product(*ticks)
        if all(abs(chosen[place[tie.before]] - chosen[place[tie.after]]) <= tie.ticks for tie in ties)
    }
    return {chosen: mass / sum(left.values()) for chosen, mass in left.items()}


@settings(deadline=None, max_examples=15)
@given(st.tuples(offsets, offsets, offsets), st.integers(3, 6), st.integers(3, 6), st.data())
def test_each_offset_is_drawn_as_the_worlds_have_it_that_are_left(
    given: tuple[tuple[tuple[int, int, float], ...], ...], first: int, second: int, data: st.DataObject
) -> None:
    ties = [ClockTie("n#1", "n#2", first), ClockTie("n#2", "n#3", second)]
    clocks = tied(dict(zip(NAMES, given, strict=True)), ties)
    left = worlds(clocks, ties)
    wanted = data.draw(st.sampled_from(sorted(left)))
    shares: list[float] = []
    for place in range(len(NAMES)):
        alike = {chosen: p for chosen, p in left.items() if chosen[:place] == wanted[:place]}
        below = sum(p for chosen, p in alike.items() if chosen[place] < wanted[place]) / sum(alike.values())
        upto = sum(p for chosen, p in alike.items() if chosen[place] <= wanted[place]) / sum(alike.values())
        # Of all shares those from the chance of less to that of as much give this offset.
        shares.append(data.draw(st.sampled_from([below + 1e-9, (below + upto) / 2, upto - 1e-9])))
    drawn = tied_offsets(clocks, lambda names: np.array([shares[NAMES.index(name)] for name in names]))
    assert tuple(drawn[name] for name in NAMES) == wanted


def test_a_query_over_tied_segments_is_calibrated(tmp_path: Path) -> None:
    """Of 400 hosts, events on both sides of a border are stated as often as they happened."""
    draw = random.Random(7)
    head = "host,from,to,ahead,ahead_to,low,high,sd,epoch,segment,jump\n"
    pieces, rows = [head], ["event_id,event_type,k,node,time\n"]
    for host in range(400):
        pieces.append(f"n{host},0,500000000,0,0,-6000000,6000000,,1,1,\n")
        pieces.append(f"n{host},500000000,1000000000,0,0,-6000000,6000000,,1,2,3000000\n")
        pieces.append(f"m{host},0,1000000000,0,0,-3000000,3000000,,1,1,\n")
        # Of true times that are even over far more than an offset the rule is right.
        for kind, node in (("A", "n"), ("B", "m"), ("C", "n")):
            tick = draw.randint(4_600, 5_400)
            rows.append(f"{kind}{host},{kind},k{host},{node}{host},1970-01-01T00:00:00.{tick:04}\n")
    (tmp_path / "clocks.csv").write_text("".join(pieces))
    (tmp_path / "truth.csv").write_text("".join(rows))
    (tmp_path / "model.toml").write_text(
        '[[rule]]\nclock = { by = "node", from = "clocks.csv" }\n', encoding="utf-8"
    )
    found = cepctl.calibrate(
        "PATTERN SEQ(A a, B b, C c) WHERE [k] WITHIN 200 ms",
        tmp_path / "truth.csv", model=tmp_path / "model.toml", time_unit="100 us",
    )  # fmt: skip
    stated = sum(each.rows * (each.stated or 0) for each in found.scores.deciles) / found.open
    assert found.open > 50
    assert stated == pytest.approx(found.scores.happened, abs=0.1)
