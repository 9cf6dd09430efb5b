"""Values of a model as TOML gives them: each is checked, and a mistake says what to write."""

from __future__ import annotations

from cepctl.errors import UncertaintyModelError


def text_in_quotes(value: object, key: str) -> str:
    """A text; raises UncertaintyModelError naming its key."""
    if not isinstance(value, str):
        raise UncertaintyModelError(f"{key} must be text in quotes, not {value!r}")
    return value


def finite_number(value: object, what: str) -> float:
    """A number that is finite; raises UncertaintyModelError naming what it is."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < float("inf"):
        raise UncertaintyModelError(f"{what} must be a number, not {value!r}")
    return float(value)
