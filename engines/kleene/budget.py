"""How many Kleene groups a query may list before it is refused with their number."""

from __future__ import annotations

from dataclasses import dataclass

from cepctl.errors import QueryTooLargeError
from cepctl.plan.plan import Component

_ASTRONOMICAL = 10**18
_LOG10_2 = 0.30103


@dataclass
class GroupBudget:
    """How many groups may still be enumerated; shared by all batches of a query."""

    allowed: int
    made: int = 0

    @property
    def left(self) -> int:
        """How many groups may still be made."""
        return self.allowed - self.made

    def spend(self, groups: int, most_candidates: int, component: Component) -> None:
        """Account for groups that are about to be made; raises QueryTooLargeError beyond the cap."""
        self.made += groups
        self._require(self.made, "would be tried by now", most_candidates, component)

    def foresee(self, groups: int, most_candidates: int, component: Component) -> None:
        """Raises QueryTooLargeError where `groups` more, none of them made yet, exceed the cap."""
        self._require(self.made + groups, "are possible", most_candidates, component)

    def _require(self, groups: int, what: str, most_candidates: int, component: Component) -> None:
        if groups <= self.allowed:
            return
        # Sequences are listed even for a summary.
        summary = "" if component.ordered else "ask for one row for all with --kleene summary, "
        raise QueryTooLargeError(
            f"the Kleene groups {component.variable}[] of this query are too many to list: {_shown(groups)} "
            f"{what}, where {self.allowed:,} are allowed, since up to {most_candidates:,} events can be in "
            "one group and each may be in it or not; narrow it (WITHIN, [attr], predicates on the group's "
            f"events, CONFIDENCE), {summary}or raise the cap with --max-matches"
        )


def _shown(number: int) -> str:
    """A number in full while its digits can be taken in at a glance."""
    return f"{number:,}" if number < _ASTRONOMICAL else f"about 10^{int(number.bit_length() * _LOG10_2)}"
