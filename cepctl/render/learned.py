"""What was learned, in one line."""

from __future__ import annotations

from cepctl.laws.learning.learned import Learned
from cepctl.render.counting import counted


def learned_summary(found: Learned, output: str) -> str:
    """A law, from how many keys it is, and how much better held-out pairs are told with it."""
    scores = found.scores
    left_out = [
        f"parts of {counted(found.beyond, 'key')} with too many open orders left out" if found.beyond else "",
        f"{counted(found.spare, 'key')} not needed" if found.spare else "",
    ]
    return "; ".join(
        [
            f"{output}: a law of {found.law.by} with {counted(found.factors, 'factor')}, learned from "
            f"{counted(found.keys, 'key')} under {found.lesson.blur}",
            *filter(None, left_out),
            f"{counted(found.open_pairs, 'held-out open pair')}: log score {scores.log_score_with:.3f} "
            f"({scores.log_score_without:.3f} without), Brier score {scores.brier_with:.3f} "
            f"({scores.brier_without:.3f} without)",
        ]
    )
