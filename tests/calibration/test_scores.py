"""Scores of stated probabilities, worked by hand and against formulas that share no code."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.calibration.scores import FEWEST_ROWS, Scores, design_effect, scores, wilson

Z = Fraction("1.959963984540054")


def scored(*rows: tuple[float, bool], clusters: list[int] | None = None) -> Scores:
    stated, happened = zip(*rows, strict=True)
    return scores(np.array(stated), np.array(happened), np.array(clusters or range(len(rows))))


def test_brier_and_log_score_are_means_over_rows() -> None:
    found = scored((0.25, False), (0.5, True), (0.75, True))
    assert found.brier == pytest.approx((1 / 16 + 1 / 4 + 1 / 16) / 3, abs=1e-15)
    assert found.log_score == pytest.approx(-math.log(0.75 * 0.5 * 0.75) / 3, abs=1e-15)
    assert found.happened == pytest.approx(2 / 3)


def test_the_log_score_of_a_surprise_is_bounded() -> None:
    assert scored((1e-8, True)).log_score == pytest.approx(math.log(1e6))


def test_a_decile_begins_at_its_tenth_and_the_last_one_is_closed() -> None:
    found = scored(*[(tenth / 10, True) for tenth in range(11)])
    assert [each.rows for each in found.deciles] == [*[1] * 9, 2]
    assert [(each.from_, each.to) for each in found.deciles][3] == (0.3, 0.4)


def test_a_decile_without_rows_says_nothing() -> None:
    empty = scored((0.95, True)).deciles[0]
    assert (empty.rows, empty.stated, empty.happened, empty.low, empty.high) == (0, None, None, None, None)


def test_the_calibration_error_weighs_gaps_by_rows() -> None:
    found = scored((0.25, False), (0.25, False), (0.25, True), (0.75, True))
    assert found.calibration_error == pytest.approx((3 * (1 / 3 - 0.25) + 0.25) / 4)


def test_the_worst_gap_is_of_a_decile_of_many_rows() -> None:
    many, few = [(0.55, True)] * FEWEST_ROWS, [(0.05, True)] * (FEWEST_ROWS - 1)
    assert scored(*many, *few).worst == pytest.approx(0.45)
    assert scored(*many[1:], *few).worst is None


def test_no_rows_have_no_scores() -> None:
    none = np.zeros(0)
    found = scores(none, none.astype(bool), none.astype(np.int64))
    assert (found.brier, found.log_score, found.calibration_error, found.worst) == (None,) * 4


def test_rows_of_one_cluster_that_come_out_alike_are_one_row() -> None:
    rows = [(0.55, True)] * 10 + [(0.55, False)] * 10
    alone, together = scored(*rows).deciles[5], scored(*rows, clusters=[0] * 10 + [1] * 10).deciles[5]
    assert (alone.low, alone.high) == wilson(0.5, 20)
    assert (together.low, together.high) == wilson(0.5, 2)


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=12))
def test_the_design_effect_is_the_clustered_variance_over_the_binomial_one(
    rows: list[tuple[int, bool]],
) -> None:
    share = Fraction(sum(came for _, came in rows), len(rows))
    excess: dict[int, Fraction] = defaultdict(Fraction)
    for cluster, came in rows:
        excess[cluster] += came - share
    clustered = sum((each**2 for each in excess.values()), Fraction(0)) / len(rows) ** 2
    binomial = share * (1 - share) / len(rows)
    expected = max(Fraction(1), clustered / binomial) if binomial else Fraction(1)
    found = design_effect(np.array([came for _, came in rows]), np.array([cluster for cluster, _ in rows]))
    assert found == pytest.approx(float(expected), rel=1e-12)


@given(st.integers(0, 50), st.integers(1, 50))
def test_the_ends_of_wilsons_interval_are_z_deviations_from_the_share(came: int, more: int) -> None:
    """At each end p of it (share - p)^2 = z^2 p (1 - p) / n, unless that is 0 or 1."""
    rows = came + more
    share = Fraction(came, rows)
    for end in wilson(came / rows, rows):
        p = Fraction(end)
        assert float((share - p) ** 2) == pytest.approx(float(Z**2 * p * (1 - p) / rows), abs=1e-12)
    low, high = wilson(came / rows, rows)
    assert low <= share + Fraction(1, 10**12)
    assert high >= share - Fraction(1, 10**12)
    assert low < high
