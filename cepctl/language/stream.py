"""The parser's view of the tokens: look ahead, take, and say what was expected instead."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from cepctl.language.ast import Span
from cepctl.language.habits import ParserPlace, habit
from cepctl.language.keywords import CLAUSES, PATTERN_OPERATORS
from cepctl.language.messages import QueryProblem, did_you_mean
from cepctl.language.tokens import Token, TokenKind

MAX_NESTING = 48
"""Parentheses, prefix operators and patterns may stand this deep inside each other."""


class TokenStream:
    """A position in the tokens of one query, and the nesting depth there."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self.position = 0
        self.depth = 0
        self.place = ParserPlace()

    @property
    def current(self) -> Token:
        return self._tokens[self.position]

    def ahead(self, count: int = 1) -> Token:
        return self._tokens[max(0, min(self.position + count, len(self._tokens) - 1))]

    @property
    def previous_end(self) -> int:
        """Where the token before the current one ends."""
        return self._tokens[self.position - 1].span.end if self.position else 0

    @property
    def previous_start(self) -> int:
        """Where the token before the current one starts."""
        return self._tokens[self.position - 1].span.start if self.position else 0

    def take(self) -> Token:
        token = self.current
        if token.kind is not TokenKind.END:
            self.position += 1
        return token

    def accept_symbol(self, *symbols: str) -> Token | None:
        return self.take() if self.current.is_symbol(*symbols) else None

    def accept_word(self, *words: str) -> Token | None:
        return self.take() if self.current.is_word(*words) else None

    def expect_symbol(self, symbol: str, expected: str | None = None) -> Token:
        return self.accept_symbol(symbol) or self.fail(expected or f"'{symbol}'")

    def at_clause(self) -> bool:
        """Whether the current token ends a clause: the next clause's keyword, or the end."""
        if self.current.is_word("GROUP"):
            return self.ahead().is_word("BY")
        if self.current.is_word("GIVEN"):
            return self.ahead().is_word(*PATTERN_OPERATORS) and self.ahead(2).is_symbol("(", "[")
        return self.current.kind is TokenKind.END or self.current.is_word(*CLAUSES)

    def span_from(self, start: int) -> Span:
        return Span(start, max(start, self.previous_end))

    def enter(self) -> None:
        """Go one level deeper; every caller leaves by `self.depth -= 1`."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise QueryProblem(self.current.span, f"nested more than {MAX_NESTING} levels deep")

    def words_from(self, start: int) -> list[str]:
        """The words in a row that begin at an offset, up to what is no word."""
        own = [token for token in self._tokens if token.span.start >= start]
        return [token.value for token in takewhile(lambda token: token.kind is TokenKind.WORD, own)]

    def fail(self, expected: str, candidates: Iterable[str] = ()) -> Token:
        """Raise the problem that the current token is not what was expected."""
        token = self.current
        meant = habit(token, self.place)
        if meant is not None:
            raise QueryProblem(token.span, f"found {found_text(token)}: {meant}")
        nearest = did_you_mean(token.value, candidates) if token.kind is TokenKind.WORD else ""
        raise QueryProblem(token.span, f"found {found_text(token)}, expected {expected}{nearest}")

    def fail_because(self, message: str) -> Token:
        """Raise a problem of the current token, with how it is written instead."""
        raise QueryProblem(self.current.span, f"found {found_text(self.current)}: {message}")

    def skip_to_clause(self) -> None:
        """After a problem: go on at the next clause keyword that stands outside brackets, if any."""
        while not self.at_clause() or self._at_word_of_row():
            self.take()

    def _at_word_of_row(self) -> bool:
        """Whether the current word is a column of the match, as behind ORDER BY, and no clause."""
        starts = self.ahead().kind in (TokenKind.SYMBOL, TokenKind.NUMBER)
        return self.current.is_word("CONFIDENCE") and not starts


def found_text(token: Token) -> str:
    """A token as a message names it."""
    shown = token.value if len(token.value) <= 40 else token.value[:37] + "..."
    match token.kind:
        case TokenKind.END:
            return "the end of the query"
        case TokenKind.STRING:
            return f"the string '{shown}'"
        case TokenKind.QUOTED_NAME:
            return f"the name `{shown}`"
        case _:
            return f"'{shown}'"
