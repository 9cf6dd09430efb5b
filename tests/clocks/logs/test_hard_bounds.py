"""Hard bounds hold: a simulated host knows by how much its clock really was ahead at each reading."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from cepctl.cli import main
from tests.clocks.logs.clock_simulator import Host

KINDS = ["tracking", "measurements", "loopstats", "peerstats", "plain"]
STEPS: dict[str, tuple[list[float], bool]] = {
    "never set": ([], True),
    "set back and forward, and told": ([-2.3, 0.7, 400.0, -900.0, 1.0], True),
    "set far, and not told": ([40.0, -500.0, 70.0, -30.0], False),
}


def clocks_of(host: Host, kind: str, folder: Path) -> pl.DataFrame:
    """CLOCKS of a host, from one log and syslog."""
    logs = folder / "n1"
    logs.mkdir()
    (logs / kind).write_text(getattr(host, kind)())
    if host.told and host.messages:
        (folder / "syslog").write_text(host.syslog())
    named = [] if kind == "plain" else ["--map", f"n1/{kind}=n1"]
    bound = ["--bound", f"{max(sample.error for sample in host.samples)} s"] if kind == "loopstats" else []
    output = folder / "clocks.parquet"
    assert main(["clocks", str(folder), "-o", str(output), *named, *bound, "--quiet"]) == 0
    return pl.read_parquet(output)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", STEPS)
def test_the_truth_is_within_the_bounds_of_the_piece_that_has_the_reading(
    kind: str, steps: str, tmp_path: Path
) -> None:
    amounts, told = STEPS[steps]
    host = Host(KINDS.index(kind), amounts, told=told)
    clocks = clocks_of(host, kind, tmp_path)
    assert (clocks["from"][1:] >= clocks["to"][:-1]).all()
    truths = pl.DataFrame([*host.truths(4_000)], schema=["reading", "truth"], orient="row").sort("reading")
    held = truths.join_asof(clocks, left_on="reading", right_on="from").filter(
        pl.col("reading") < pl.col("to")
    )
    part = (held["reading"] - held["from"]) / (held["to"] - held["from"])
    residual = held["truth"] - held["ahead"] - part * (held["ahead_to"] - held["ahead"])
    outside = held.filter((residual < held["low"] - 2) | (residual > held["high"] + 2))
    assert len(held) > 2_500
    assert outside.select("note", "low", "high", "ahead", "ahead_to", "truth").rows() == []
