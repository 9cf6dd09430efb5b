"""What of a clock explains a match, as a sentence."""

from __future__ import annotations

import pytest

from cepctl.engines.diagnosis.valid_intervals import OffsetShown
from cepctl.render.clock_sentences import clock_sentence
from cepctl.schema import TimeUnit


@pytest.mark.parametrize(
    ("other", "least", "most", "sentence"),
    [
        (None, 0, 2_500, "node07's clock: 0 to 2.5 s behind explains it"),
        (None, -2_500, -500, "node07's clock: 500 ms to 2.5 s ahead explains it"),
        (None, -1, 2, "node07's clock: 1 ms ahead to 2 ms behind explains it"),
        (None, 0, 0, "node07's clock: on time explains it"),
        ("master", 3, 3, "node07's clock: 3 ms behind against master's explains it"),
        ("master", 0, 0, "node07's clock: as far off as master's explains it"),
    ],
)
def test_a_clock_is_told_ahead_or_behind(other: str | None, least: int, most: int, sentence: str) -> None:
    offset = OffsetShown("node=node07", other, -9_000, 9_000, least, most, 0.5)
    assert clock_sentence(offset, TimeUnit(1_000)) == sentence
