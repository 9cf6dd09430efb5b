"""Under which laws of order a query is run: those of its events, those of a file, or none."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cepctl.errors import UsageError
from cepctl.laws.choices import BEYOND, MOST_SETS_ALIVE, Beyond
from cepctl.laws.law import OrderLaw
from cepctl.library.options import require_choice

if TYPE_CHECKING:
    from cepctl.plan.event_schema import EventSchema


@dataclass(frozen=True)
class LawFile:
    """The laws of a model file, and its path."""

    path: str
    laws: tuple[OrderLaw, ...]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> LawFile:
        """Read a file of which nothing but `[[law]]` counts.

        Raises
        ------
        UncertaintyModelError
            If it cannot be read.
        UsageError
            If it states no law.
        """
        from cepctl.uncertainty.model import load_model

        file = os.fspath(path)
        laws = load_model(file).laws
        if not laws:
            raise UsageError(
                f"{file} states no law of order; write one as [[law]], or let cepctl learn find it"
            )
        return cls(file, laws)


@dataclass(frozen=True)
class LawChoice:
    """What is asked of laws of order.

    `laws` take the place of those that the events keep; with `no_laws` there are none.  A key of which more
    than `law_limit` sets of events may have happened in one cell of time is refused, or with `beyond`
    `lawless` computed without the law.

    Raises
    ------
    UsageError
        If a choice cannot have its value.
    """

    laws: LawFile | None = None
    no_laws: bool = False
    beyond: Beyond = "refuse"
    law_limit: int = MOST_SETS_ALIVE

    def __post_init__(self) -> None:
        require_choice("beyond", self.beyond, BEYOND)
        if self.law_limit < 1:
            raise UsageError(f"law_limit cannot be {self.law_limit}; it is at least 1")

    def applied(self, schema: EventSchema) -> EventSchema:
        """What is known of events, with the laws that are to hold for them."""
        if self.no_laws:
            return replace(schema, laws=())
        return schema if self.laws is None else replace(schema, laws=self.laws.laws)


def law_choice(
    laws: str | os.PathLike[str] | None, beyond: Beyond, law_limit: int, *, no_laws: bool
) -> LawChoice:
    """The choice in keywords of the library; `laws` is a file.

    Raises
    ------
    UncertaintyModelError
        If the file cannot be read.
    UsageError
        If it states no law, or a choice cannot have its value.
    """
    return LawChoice(None if laws is None else LawFile.read(laws), no_laws, beyond, law_limit)
