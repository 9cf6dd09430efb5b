"""Query text to tokens: words, quoted names, strings, numbers and symbols, each with its span.

Nothing here depends on what the words mean.  Signs of other languages (`&&`, `->`) are symbols, too, that no
rule takes, so that the parser can say how they are written here.  Comments (`--`, `//`) and white space are
dropped; the mathematical signs of the papers become the words and operators that they stand for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from cepctl.language.ast import Span
from cepctl.language.keywords import OPERATOR_SYMBOLS, WORD_SYMBOLS
from cepctl.language.messages import Problem

MAX_QUERY_LENGTH = 100_000
"""Longer query texts, in characters, are refused."""


class TokenKind(Enum):
    """What a token is; WORD may be a keyword or a name, QUOTED_NAME stood in backticks."""

    WORD = "word"
    QUOTED_NAME = "quoted name"
    STRING = "string"
    NUMBER = "number"
    SYMBOL = "symbol"
    END = "end"


@dataclass(frozen=True)
class Token:
    """One token: `value` is the name, the string's content, or the symbol in its plain spelling."""

    kind: TokenKind
    value: str
    span: Span

    def is_word(self, *words: str) -> bool:
        """Whether this is one of the words, given in upper case, without regard to case."""
        return self.kind is TokenKind.WORD and self.value.upper() in words

    def is_symbol(self, *symbols: str) -> bool:
        return self.kind is TokenKind.SYMBOL and self.value in symbols


_TOKEN = re.compile(
    r"""
    (?P<blank>\s+|--[^\n]*|//[^\n]*)
  | (?P<word>[^\W\d]\w*)
  | (?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+(?!\w))?)
  | (?P<string>'(?:[^']|'')*'|"(?:[^"]|"")*")
  | (?P<name>`(?:[^`]|``)+`)
  | (?P<foreign>&&|\|\||===|=>|=<|=~|->|/\*|[&?{}:\#$@])
  | (?P<symbol>\.\.|\^[-+]|<>|<=|>=|!=|==|[-+*/%=<>()\[\],.;|!~∪∧∨¬≥≤≠×])
    """,
    re.VERBOSE,
)


def tokenize(text: str) -> tuple[list[Token], list[Problem]]:
    """Tokens of `text`, the last one of kind END, and what could not be read.

    Examples
    --------
    >>> [token.value for token in tokenize("b.value ≥ 95% -- peak")[0]]
    ['b', '.', 'value', '>=', '95', '%', '']
    """
    tokens: list[Token] = []
    problems: list[Problem] = []
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            end, problem = _unreadable(text, position)
            problems.append(problem)
            position = end
            continue
        if found.lastgroup != "blank":
            tokens.append(_token(found))
        position = found.end()
    tokens.append(Token(TokenKind.END, "", Span(len(text), len(text))))
    return tokens, problems


def _token(found: re.Match[str]) -> Token:
    content, span = found[0], Span(*found.span())
    match found.lastgroup:
        case "word":
            return Token(TokenKind.WORD, content, span)
        case "number":
            return Token(TokenKind.NUMBER, content, span)
        case "string":
            quote = content[0]
            return Token(TokenKind.STRING, content[1:-1].replace(quote * 2, quote), span)
        case "name":
            return Token(TokenKind.QUOTED_NAME, content[1:-1].replace("``", "`"), span)
        case _:
            if content in WORD_SYMBOLS:
                return Token(TokenKind.WORD, WORD_SYMBOLS[content], span)
            return Token(TokenKind.SYMBOL, OPERATOR_SYMBOLS.get(content, content), span)


def _unreadable(text: str, position: int) -> tuple[int, Problem]:
    sign = text[position]
    if sign in "'\"`":
        what = "name" if sign == "`" else "string"
        message = f"this {what} has no closing {sign}"
        if text.startswith("``", position):
            message = "a name in backticks must not be empty"
            return position + 2, Problem(Span(position, position + 2), message)
        return len(text), Problem(Span(position, position + 1), message)
    hint = "; strings are written in ' or \"" if sign in "‘’“”„«»" else ""
    shown = sign if sign.isprintable() else f"\\u{ord(sign):04x}"
    return position + 1, Problem(Span(position, position + 1), f"'{shown}' has no meaning here{hint}")
