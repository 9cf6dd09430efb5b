"""What relations between events say, in words."""

from __future__ import annotations

from collections.abc import Mapping

from cepctl.language.ast import Allen, Interrelation, Query
from cepctl.language.printer import duration_text, expression_to_text
from cepctl.language.traversal import conjuncts

_WORDS: Mapping[Interrelation, str] = {
    "before": "{a} ends before {b} starts",
    "after": "{a} starts after {b} ends",
    "meets": "{a} ends as {b} starts",
    "met_by": "{a} starts as {b} ends",
    "overlaps": "{a} starts first and {b} ends last, and for a time both are under way",
    "overlapped_by": "{b} starts first and {a} ends last, and for a time both are under way",
    "starts": "both start together, and {a} ends first",
    "started_by": "both start together, and {b} ends first",
    "during": "{a} starts after {b} and ends before it",
    "contains": "{a} starts before {b} and ends after it",
    "finishes": "{a} starts later, and both end together",
    "finished_by": "{a} starts first, and both end together",
    "equals": "both start together and end together",
    "intersects": "each starts before the other ends",
}


def relations_in_words(query: Query) -> tuple[str, ...]:
    """The relations that WHERE asks for, each as written and in words."""
    return tuple(_told(each) for each in conjuncts(query.where) if isinstance(each, Allen))


def _told(relation: Allen) -> str:
    words = "; or ".join(
        _WORDS[each].format(a=relation.left, b=relation.right) for each in relation.relations
    )
    if relation.by is not None:
        words = f"both are under way together for at least {duration_text(relation.by)}"
    if relation.tolerance is not None:
        words += f" (ticks at most {duration_text(relation.tolerance)} apart count as equal)"
    return f"{expression_to_text(relation)}: {words}"
