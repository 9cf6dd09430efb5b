"""What is given of the components of a pattern: clauses whose condition their predicates imply.

Every match then keeps to it, so that a query which asks for the opposite has none, whatever the events are.
Li10 terminates such queries early.  Only what predicates say word for word counts as implied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

from cepctl.language.ast import Attribute, Binary, Constant, Expression
from cepctl.plan.plan import Alternative, Given
from cepctl.plan.predicates import resolved


@dataclass(frozen=True)
class GivenEdge:
    """`t(left) - t(right) <= bound` between two components, and the clause that says so."""

    left: int
    right: int
    bound: int
    text: str


def given_edges(
    alternative: Alternative, partition_by: Sequence[str], given: Sequence[Given]
) -> Iterator[GivenEdge]:
    """The differences between components that hold in every world which is left.

    Examples
    --------
    >>> from cepctl.language.parser import parse
    >>> from cepctl.plan.analyze import analyze
    >>> plan = analyze(parse("PATTERN SEQ(A a, B b) WHERE [k] GIVEN SEQ(A x, B y) IF x.k = y.k"))
    >>> next(given_edges(plan.alternatives[0], ("k",), plan.given)).bound
    -1
    """
    single = [i for i in alternative.positive if not alternative.components[i].kleene]
    for clause in given:
        for chosen in permutations(single, len(clause.alternative.components)):
            if _implied(alternative, partition_by, clause, chosen):
                yield from _edges(clause, chosen)


def _edges(clause: Given, chosen: Sequence[int]) -> Iterator[GivenEdge]:
    text = f"GIVEN {clause.text}"
    ordered = len(clause.alternative.blocks) > 1
    if ordered:
        for before, after in pairwise(chosen):
            yield GivenEdge(before, after, -1, text)
    if clause.window is not None:
        ends = [(chosen[-1], chosen[0])] if ordered else list(permutations(chosen, 2))
        for left, right in ends:
            yield GivenEdge(left, right, clause.window - 1, text)


def _implied(
    alternative: Alternative, partition_by: Sequence[str], clause: Given, chosen: Sequence[int]
) -> bool:
    """Whether events of the chosen components are always a combination that the clause speaks of."""
    own = [alternative.components[i] for i in chosen]
    wanted = clause.alternative.components
    for mine, each in zip(own, wanted, strict=True):
        if each.event_types and not (mine.event_types and set(mine.event_types) <= set(each.event_types)):
            return False
    names = {each.variable.lower(): mine.variable for mine, each in zip(own, wanted, strict=True)}
    said = [condition for each in wanted for condition in each.filters]
    said += [link.expression for link in clause.alternative.links]
    known = [condition for mine in own for condition in mine.filters]
    known += [link.expression for link in alternative.links]
    return all(_is_known(resolved(each, names), known, partition_by) for each in said)


def _is_known(condition: Expression, known: Sequence[Expression], partition_by: Sequence[str]) -> bool:
    match condition:
        case Constant(True):
            return True
        case Binary("=", Attribute(_, one, None), Attribute(_, two, None)) if one == two in partition_by:
            return True
        case Binary("=", left, right):
            return condition in known or Binary("=", right, left) in known
    return condition in known
