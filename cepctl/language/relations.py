"""Parser for relations between interval events: `OVERLAPS|DURING`, `TOLERANCE d`, `INTERSECTS ... BY d`.

They stand between two variables in a condition, and between two components in a pattern.
"""

from __future__ import annotations

from typing import cast

from cepctl.language.ast import Duration, Interrelation
from cepctl.language.keywords import CLAUSES, RELATIONS
from cepctl.language.literals import window
from cepctl.language.messages import QueryProblem, did_you_mean, nearest_names
from cepctl.language.stream import TokenStream
from cepctl.language.tokens import TokenKind

_NAMES = (TokenKind.WORD, TokenKind.QUOTED_NAME)
_TYPES = (*_NAMES, TokenKind.STRING)


def at_relation(stream: TokenStream, *, in_pattern: bool = False) -> bool:
    """Whether a relation and what it relates to come next; in a pattern that is a type, or `*`."""
    token, after = stream.current, stream.ahead()
    if token.kind is not TokenKind.WORD or token.value.lower() not in RELATIONS:
        return False
    if not in_pattern:
        return after.kind in _NAMES or after.is_symbol("|")
    return (after.kind in _TYPES and not after.is_word(*CLAUSES)) or after.is_symbol("*", "|")


def refuse_misspelt(stream: TokenStream) -> None:
    """Raise the problem where a word that is nearly a relation stands between two variables."""
    token = stream.current
    plain = token.kind is TokenKind.WORD and not stream.at_clause() and stream.ahead().kind in _NAMES
    if plain and did_you_mean(token.value, RELATIONS):
        stream.fail("a relation between two events", RELATIONS)


def refuse_misspelt_between_components(stream: TokenStream) -> None:
    """Raise the problem where a word that is nearly a relation stands between two components."""
    token, after = stream.current, stream.ahead()
    typed = after.kind in _TYPES or after.is_symbol("*")
    related = after.is_symbol("|") or (typed and stream.ahead(2).kind in _NAMES)
    plain = token.kind is TokenKind.WORD and not stream.at_clause()
    # A clause may be meant as well.
    nearest = nearest_names(token.value, (*RELATIONS, *CLAUSES), 1) if plain and related else []
    if any(each in RELATIONS for each in nearest):
        stream.fail("a relation between two components", RELATIONS)


def relations(stream: TokenStream) -> tuple[Interrelation, ...]:
    """`R1|R2|...`, each once."""
    found = [_relation(stream)]
    while stream.accept_symbol("|"):
        start = stream.current.span
        each = _relation(stream)
        if each in found:
            raise QueryProblem(start, f"{each.upper()} stands here twice")
        found.append(each)
        if "intersects" in found:
            raise QueryProblem(start, "INTERSECTS is a union of relations already: it stands alone")
    return tuple(found)


def _relation(stream: TokenStream) -> Interrelation:
    token = stream.current
    if token.kind is not TokenKind.WORD or token.value.lower() not in RELATIONS:
        stream.fail("a relation: " + ", ".join(name.upper() for name in RELATIONS), RELATIONS)
    return cast(Interrelation, stream.take().value.lower())


def refinement(
    stream: TokenStream, found: tuple[Interrelation, ...]
) -> tuple[Duration | None, Duration | None]:
    """What may follow the second event: `TOLERANCE d` of Allen's relations, `BY d` of INTERSECTS."""
    intersects = found == ("intersects",)
    word = stream.current
    if word.is_word("TOLERANCE"):
        if intersects:
            raise QueryProblem(
                word.span,
                "TOLERANCE is of Allen's relations; INTERSECTS takes BY, how long at least both last",
            )
        stream.take()
        return window(stream), None
    if word.is_word("BY") and stream.ahead().kind is TokenKind.NUMBER:
        if not intersects:
            raise QueryProblem(
                word.span,
                "BY is of INTERSECTS, as in a INTERSECTS b BY 1 min; Allen's relations take TOLERANCE",
            )
        stream.take()
        return None, window(stream)
    return None, None
