"""The columns of rows under a law of order: what they are without it, and whether it was applied."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from cepctl.laws.choices import LAW, LAWLESS

_TYPES = {LAWLESS: pa.float64(), LAW: pa.bool_()}


def law_fields(names: Sequence[str]) -> list[pa.Field]:
    """The fields of these columns."""
    return [pa.field(name, _TYPES[name]) for name in names]
