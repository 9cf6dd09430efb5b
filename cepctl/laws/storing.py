"""Laws of order as the metadata of a dataset keep them: JSON, the same bytes for the same laws."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cepctl.laws.law import OrderLaw


def laws_as_json(laws: Sequence[OrderLaw]) -> bytes:
    """The laws as a list of objects; `laws_in` reads them back."""
    return json.dumps([_stated(each) for each in laws], ensure_ascii=False).encode()


def laws_in(text: bytes) -> tuple[OrderLaw, ...]:
    """The laws that the metadata of a dataset hold.

    Examples
    --------
    >>> laws_in(laws_as_json([OrderLaw("case_id", following={("A", "B"): 4.0})]))[0].following
    {('A', 'B'): 4.0}
    """
    return tuple(
        OrderLaw(each["by"], tuple(each["step"]), _factors(each["next"]), _factors(each["before"]))
        for each in json.loads(text)
    )


def _stated(law: OrderLaw) -> dict[str, Any]:
    following, before = (
        [[*steps, factor] for steps, factor in sorted(factors.items())]
        for factors in (law.following, law.before)
    )
    return {"by": law.by, "step": list(law.step), "next": following, "before": before}


def _factors(listed: Sequence[tuple[str, str, float]]) -> Mapping[tuple[str, str], float]:
    return {(first, second): factor for first, second, factor in listed}
