"""The highest of several maxima: with ties no single start of the search reaches it in every log."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.laws.learning.learned import _near_summit
from cepctl.laws.learning.likelihood import Lessons, Likelihood, fitted
from cepctl.numeric.arrays import Reals
from tests.taught_keys import taught_keys

SIGMA = 3.0
REACHED_FROM_NONE = (
    "D0-9@1 A0-9@0 A0-9@0",
    "D0-9@2 A0-9@1 D0-9@1",
    "D0-9@1 A0-9@3 D0-9@0 C0-9@0",
)
REACHED_FROM_TANGENT = (
    "A0-9@1 C0-9@0 D0-9@1",
    "C0-9@1 A0-9@0 B0-9@1 D0-9@0",
    "D0-9@0 A0-9@0 C0-9@1",
    "B0-9@0 C0-9@1 C0-9@1 B0-9@3 D0-9@0",
    "B0-9@1 A0-9@1 B0-9@1 A0-9@1",
    "A0-9@3 D0-9@0 D0-9@0 C0-9@2 A0-9@3",
)


def likelihood_of(keys: tuple[str, ...]) -> Likelihood:
    lessons = Lessons.of(taught_keys(*keys), np.zeros(len(keys), dtype=np.int64), 1)
    return lessons.likelihood(np.ones(1, dtype=bool), 1)


def height(likelihood: Likelihood, vector: Reals) -> float:
    return likelihood(vector)[0] - float(vector @ vector) / (2 * SIGMA**2)


def test_of_two_summits_the_higher_is_found_whichever_start_leads_there() -> None:
    """A sum with summits near -1 and, a little higher, near 1; without a prior to speak of."""

    def summed(vector: Reals) -> tuple[float, Reals]:
        (t,) = vector
        return -float((t * t - 1) ** 2) + 0.1 * t, np.array([-4 * t * (t * t - 1) + 0.1])

    for starts in ([-0.9, 0.9], [0.9, -0.9]):
        found = fitted(summed, [np.array([each]) for each in starts], 1e6, 1e-12)
        assert found == pytest.approx(1.0, abs=0.02)
    assert fitted(summed, [np.array([-0.9])], 1e6, 1e-12) == pytest.approx(-1.0, abs=0.02)


@pytest.mark.parametrize(("keys", "lower"), [(REACHED_FROM_NONE, "tangent"), (REACHED_FROM_TANGENT, "none")])
def test_ties_leave_several_summits_and_a_law_is_sought_near_the_highest(
    keys: tuple[str, ...], lower: str
) -> None:
    likelihood = likelihood_of(keys)
    none = np.zeros(likelihood.factors.count)
    starts = {"none": none, "tangent": fitted(likelihood.tangent, [none], SIGMA, 1e-9)}
    heights = {
        name: height(likelihood, fitted(likelihood, [start], SIGMA, 1e-9)) for name, start in starts.items()
    }
    assert min(heights, key=heights.__getitem__) == lower
    assert max(heights.values()) - min(heights.values()) > 0.1
    assert height(likelihood, _near_summit(likelihood, SIGMA)) == pytest.approx(
        max(heights.values()), abs=0.01
    )


def test_without_ties_there_is_one_summit_and_nothing_to_choose() -> None:
    likelihood = likelihood_of(("A0-9@1 B0-9@3", "B0-9@1 A0-9@3"))
    assert not _near_summit(likelihood, SIGMA).any()
