"""Strategies of Hypothesis that are made anew for each draw are kept, as it keeps those of numbers itself.

Before it draws from a strategy Hypothesis finds out what that is, once for each.  This took two fifths of the
time of drawing a query, most of which is one of a few words each.  What is drawn stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, TypeAlias

from hypothesis import strategies as st

Strategy: TypeAlias = st.SearchStrategy[Any]
Maker: TypeAlias = Callable[..., Strategy]
KEPT = 2_000


def keep_strategies() -> None:
    """From here on `sampled_from` gives one strategy for equal words, a composite one for equal arguments."""
    ways = {"sampled_from": _sampling(st.sampled_from), "composite": _composing(st.composite)}
    for name, kept in ways.items():
        setattr(st, name, kept)


def _sampling(make: Maker) -> Maker:
    of_words = _kept(lambda *words: make(words))

    @wraps(make)
    def sampled_from(elements: Sequence[Any]) -> Strategy:
        return of_words(*elements) if isinstance(elements, list | tuple | str) else make(elements)

    return sampled_from


def _composing(composite: Callable[[Any], Maker]) -> Callable[[Any], Maker]:
    @wraps(composite)
    def kept(definition: Any) -> Maker:
        return _kept(composite(definition))

    return kept


def _kept(make: Maker) -> Maker:
    """The same strategy for the same arguments; not for floats, as 0.0 equals -0.0, nor what can change."""
    kept = lru_cache(KEPT, typed=True)(make)

    @wraps(make)
    def strategy(*arguments: Any, **named: Any) -> Strategy:
        if any(isinstance(each, float) for each in arguments):
            return make(*arguments, **named)
        try:
            return kept(*arguments, **named)
        except TypeError:  # what has no hash
            return make(*arguments, **named)

    return strategy
