"""What is told of one file: how coarse its times are."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.ingestion.results import FEWEST_TIMES, TimesSeen


@pytest.mark.parametrize("alike", [0, 5_000])
@pytest.mark.parametrize(("distinct", "step"), [(FEWEST_TIMES - 1, None), (FEWEST_TIMES, "1 s")])
def test_times_prove_their_step_from_as_many_distinct_ones_on_wherever_these_stand(
    alike: int, distinct: int, step: str | None
) -> None:
    seconds = np.append(np.zeros(alike, np.int64), np.arange(distinct)) * 1_000_000
    seen = TimesSeen()
    seen.add_times(seconds, 1_000)
    assert seen.step == step
