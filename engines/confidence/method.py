"""What is told of each way to measure something: lists of these say which is asked when, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, ParamSpec, TypeAlias, TypeVar

from cepctl.engines.confidence import work


class Guarantee(Enum):
    """How near a confidence is to the probability."""

    EXACT = "exact to rounding"
    AGREED = "exact to 34 bits"
    PARTS = "as exact as what it sums"
    ESTIMATED = "within the error allowed"


Heard: TypeAlias = Callable[[str], None]
"""Hears the name of each method that measures some."""


def nobody(name: str) -> None:
    """Nobody hears it."""


_Asked = TypeVar("_Asked")
_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Method(Generic[_Asked, _Given, _Found]):
    """One way to measure matches, keys, or what connects some endpoints.

    `takes`: whether it is asked at all, told by what all of them have in common; `measure`: what it finds.
    `why`: what makes them so that it measures them.
    """

    name: str
    takes: Callable[[_Asked], bool]
    guarantee: Guarantee
    measure: Callable[_Given, _Found]
    why: str

    @property
    def most_products(self) -> int | None:
        """So many products are the most that it takes; None where what it sums has a bound."""
        return work.most_products(self.name) if self.name in work.NANOSECONDS else None
