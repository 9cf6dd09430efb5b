"""Types of arrays: what an array holds is part of a signature."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ticks: TypeAlias = NDArray[np.int64]
"""Points in time, in ticks."""

Seconds: TypeAlias = NDArray[np.int64]
"""Points in time in seconds since 1970, or their distances."""

Indexes: TypeAlias = NDArray[np.int64]
"""Row numbers of events in the event table, or positions in another array."""

Numbers: TypeAlias = NDArray[np.int64]
"""Other whole numbers."""

Reals: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Bytes: TypeAlias = NDArray[np.uint8]

Hashes: TypeAlias = NDArray[np.uint64]
"""Numbers that are equal where what they stand for is."""

Causes: TypeAlias = NDArray[np.object_]
"""Of each row of a file why it is rejected, None where it is not."""
