"""CONFIDENCE and --top-k inside the search, against all matches filtered afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from engine import NO_CAP, matches_of
from results import Row, Setup, check_close, check_equal
from workloads import FIVE, FIVE_PERCENT, NEXT, appendix_c, plan_for, stored

from cepctl.numeric.precision import CONFIDENCE_SLACK

TOP = 100


def push_down(setup: Setup) -> Iterator[Row]:
    """Chains of three and five, and next match, at d = 50 and d = 10."""
    for name, pattern, half_width, full, quick in (
        ("3 components, d = 50", FIVE_PERCENT, 50, 100_000, 10_000),
        ("5 components, d = 10", FIVE, 10, 50_000, 5_000),
        ("next match, d = 50", NEXT, 50, 50_000, 3_000),
    ):
        path = stored(setup.folder, "thresholds", appendix_c(setup.events(full, quick), half_width))
        everything, matches = matches_of(setup, pattern.plan, path)
        confidence = matches.column("confidence").to_numpy()
        for quantile in (0.5, 0.9, 0.99):
            least = round(float(np.quantile(confidence, quantile)), 6)
            plan = plan_for(f"{pattern.text} CONFIDENCE >= {least:.6f}")
            timing, kept = matches_of(setup, plan, path)
            check_equal(
                f"matches of at least {least}",
                kept.num_rows,
                int(np.sum(confidence >= least - CONFIDENCE_SLACK)),
            )
            yield Row(
                f"{name}, the best {1 - quantile:.0%}", timing, kept.num_rows,
                ratio=timing.seconds / everything.seconds, against="all matches, filtered afterwards",
                checked="same rows", series=name, x=100 * (1 - quantile),
            )  # fmt: skip
        timing, kept = matches_of(setup, pattern.plan, path, replace(NO_CAP, top=TOP))
        best = np.sort(kept.column("confidence").to_numpy())[::-1][:TOP]
        check_close("the best confidences", float(best.sum()), float(np.sort(confidence)[::-1][:TOP].sum()))
        yield Row(
            f"{name}, --top-k {TOP}", timing, kept.num_rows, ratio=timing.seconds / everything.seconds,
            against="all matches, sorted afterwards", checked="same confidences",
        )  # fmt: skip
