"""What each strategy means to the judge: its rows of the table, and which events decide them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from cepctl.engines.worlds import next_match
from cepctl.engines.worlds.bound_events import Bound, Ticks
from cepctl.engines.worlds.contiguity import holds_contiguously
from cepctl.errors import UnsupportedQueryError
from cepctl.plan.plan import Plan

if TYPE_CHECKING:
    from cepctl.engines.worlds.combinations import Bindable

Counted: TypeAlias = Literal["fitting", "key", "all"]


@dataclass(frozen=True)
class Reading:
    """What a strategy means here: its rows of the table, and which events of the input decide them.

    `fills_window` says that a trailing group takes what fits until the window ends, `as_runs` that what is
    taken may depend on what was.
    """

    holds: Callable[[Bindable, Ticks, Bound], bool]
    counted: Counted
    fills_window: bool = False
    as_runs: bool = False


def _anything(search: Bindable, ticks: Ticks, bound: Bound) -> bool:
    return True


def _next_match(search: Bindable, ticks: Ticks, bound: Bound) -> bool:
    return next_match.holds(search, ticks, bound)


_READINGS: Mapping[str, Reading] = {
    "skip_till_any_match": Reading(_anything, "fitting"),
    "skip_till_next_match": Reading(_next_match, "fitting", fills_window=True, as_runs=True),
    "strict_contiguity": Reading(partial(holds_contiguously, of_key=False), "all"),
    "partition_contiguity": Reading(partial(holds_contiguously, of_key=True), "key"),
}


def reading(plan: Plan) -> Reading:
    """What the strategy of a plan means, told by its word alone.

    Raises
    ------
    UnsupportedQueryError
        If the judge does not know the word: it guesses nothing.
    """
    if plan.strategy.word not in _READINGS:
        raise not_known(plan.strategy.word)
    return _READINGS[plan.strategy.word]


def not_known(word: object) -> UnsupportedQueryError:
    """Says that the judge does not know a word."""
    return UnsupportedQueryError(f"the worlds engine does not know {word!r}; --engine event may")
