"""How exact probabilities are, and so what counts as equal: the only place for these numbers."""

from __future__ import annotations

import math

CONFIDENCE_DECIMALS = 9
"""Confidences are accurate to this many decimals, and so are sorted by no more of them."""

CONFIDENCE_SLACK = 10**-CONFIDENCE_DECIMALS
"""Confidences that differ by less may be the same: whoever compares one with a number allows it so much."""

MASS_TOLERANCE = 1e-6
"""By so much the probabilities of a mass may miss a sum of 1, for they are read from decimals."""

SMALLEST = math.nextafter(0.0, 1.0)
"""Stands for a positive probability below the smallest positive float: what it is of is possible."""
