"""What may be asked of rows under laws of order: columns that tell of the law, and what is too much work."""

from __future__ import annotations

from typing import Literal

LAWLESS = "lawless"
"""The column of rows under a law of order that gives the confidence, or occurrence, without it."""

LAW = "law"
"""The column that says whether a row was computed under the law: false where its key was too much work."""

Beyond = Literal["refuse", "lawless"]
BEYOND: tuple[Beyond, ...] = ("refuse", "lawless")
"""What becomes of a key of which too many sets of events may have happened in one cell of time."""

MOST_SETS_ALIVE = 1 << 16
"""So many are not too many."""
