"""Parser for how many events a component binds: `?`, `*`, `{n}`, `{m,n}`, `{m,}`, and `RUNNING` before it."""

from __future__ import annotations

from cepctl.language.ast import Quantifier, Span
from cepctl.language.keywords import CLAUSES, PATTERN_OPERATORS, RELATIONS
from cepctl.language.messages import QueryProblem
from cepctl.language.stream import TokenStream
from cepctl.language.tokens import TokenKind


def quantifier(stream: TokenStream) -> Quantifier | None:
    """What stands after a type, if it says how many."""
    if stream.accept_symbol("?"):
        return Quantifier(0, 1)
    if stream.accept_symbol("*"):
        return Quantifier(0, None)
    opening = stream.accept_symbol("{")
    if opening is None:
        return None
    least = _number(stream)
    most: int | None = least
    if stream.accept_symbol(","):
        most = None if stream.current.is_symbol("}") else _number(stream)
    closing = stream.expect_symbol("}", "'}'")
    _require_some(least, most, Span(opening.span.start, closing.span.end))
    return Quantifier(least, most, braces=True)


def running(stream: TokenStream) -> bool:
    """Whether `RUNNING` stands before a component, which it does where a type and more follow it.

    An event type may be called so, too: `RUNNING r`, `RUNNING+ r[]`.
    """
    if not stream.current.is_word("RUNNING"):
        return False
    first, second = stream.ahead(), stream.ahead(2)
    if first.is_word(*PATTERN_OPERATORS) and second.is_symbol("(", "["):
        stream.fail_because(
            "RUNNING stands before one group, the last component, as in RUNNING B+ b[], not before "
            f"{first.value}"
        )
    of_any_type = first.is_symbol("*") and second.is_symbol("+", "*", "{", "?")
    names_type = first.kind in (TokenKind.WORD, TokenKind.QUOTED_NAME, TokenKind.STRING)
    more = second.is_symbol("+", "*", "{", "?", "|") or second.kind in (TokenKind.WORD, TokenKind.QUOTED_NAME)
    found = of_any_type or (names_type and more and not second.is_word(*CLAUSES, *RELATIONS))
    if found:
        stream.take()
    return found


def _number(stream: TokenStream) -> int:
    token = stream.current
    if token.kind is not TokenKind.NUMBER or not token.value.isdigit():
        stream.fail_because("braces hold a number of events, as in B{2}, B{2,3}, B{2,} or B{0,3}")
    return int(stream.take().value)


def _require_some(least: int, most: int | None, span: Span) -> None:
    """Raise QueryProblem where no number of events is allowed, or none alone."""
    if most == 0:
        raise QueryProblem(
            span, "this binds no event: write !B b for one that must not be there, B? b for one that may be"
        )
    if most is not None and most < least:
        raise QueryProblem(
            span,
            f"at least {least} and at most {most} is no number: write the smaller one first, "
            f"{{{most},{least}}}",
        )
