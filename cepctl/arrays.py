"""Array types that the engines share: what an array holds is part of a signature."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ticks: TypeAlias = NDArray[np.int64]
"""Points in time, in ticks."""

Indexes: TypeAlias = NDArray[np.int64]
"""Row numbers of events in the event table, or positions in another array."""

Reals: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
