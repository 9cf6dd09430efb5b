"""Until when the events of a dataset tell what happened, as its metadata have it."""

from __future__ import annotations

import json
from fractions import Fraction

from cepctl.schema import Observed


def observed_text(observed: Observed) -> bytes:
    """As the metadata of a dataset have it."""
    return json.dumps({"until": observed.until, "grace": str(observed.grace)}).encode()


def observed_in(text: bytes | None) -> Observed | None:
    """What the metadata of a dataset say; None where they say nothing."""
    if text is None:
        return None
    said = json.loads(text)
    return Observed(said["until"], Fraction(said["grace"]))
