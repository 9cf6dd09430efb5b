"""Where true times are even over a long stretch, and err evenly, what is stated is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import cepctl

EVENTS = 20
MODEL = (
    '[[rule]]\nevent_type = "A"\nlatency = [["0 ms", "100 ms", 0.7], ["200 ms", "400 ms", 0.3]]\n'
    '[[rule]]\nclock = { by = "node", offset = { normal = { sigma = "60 ms" } } }\n'
    'interval = { before = "30 ms", after = "50 ms" }\n'
)
BLURS = ["coarsen=150 ms", "jitter=80 ms", "clock=by=node 80 ms", "model"]


def even_events(keys: int) -> pa.Table:
    """Events of two types per key, each on a node of its own, anywhere in eight seconds."""
    random = np.random.default_rng(11)
    count = 2 * keys * EVENTS
    tick = random.integers(0, 8_000, count)
    columns = {
        "event_type": ["A", "B"] * (keys * EVENTS),
        "key": [f"k{at // (2 * EVENTS)}" for at in range(count)],
        "node": [f"n{at}" for at in range(count)],
        "lower": tick,
        "upper": tick,
    }
    return pa.table(columns)


@pytest.mark.parametrize(
    ("query", "blur"),
    [*((None, blur) for blur in BLURS), ("PATTERN SEQ(A a, B b) WHERE [key] WITHIN 1 s", BLURS[1])],
)
def test_stated_probabilities_are_right(query: str | None, blur: str, tmp_path: Path) -> None:
    name, _, value = blur.partition("=")
    # Under the model most orders are open, and each takes long.
    keys = 50 if name == "model" else 125
    if name == "model":
        value = str(tmp_path / "model.toml")
        Path(value).write_text(MODEL)
    found = cepctl.calibrate(query, even_events(keys), by="key", **{name: value})  # type: ignore[arg-type]
    assert found.impossible_happened == 0
    assert found.open > 900
    for decile in found.scores.deciles:
        if decile.rows < 50:
            continue
        assert decile.stated is not None
        assert decile.low is not None
        assert decile.high is not None
        # The intervals hold 95 % of the time, and all of them with three times their width.
        reach = (decile.high - decile.low) / 2
        assert decile.low - reach <= decile.stated <= decile.high + reach
