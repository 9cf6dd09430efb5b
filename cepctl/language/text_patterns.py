r"""Patterns of LIKE and regexp_like, brought to a form that means the same in every engine.

Rust (Polars) and Java (Spark) read most regular expressions alike, but not `\d` (Unicode in one,
ASCII in the other), `.`, `$` and what stands inside brackets.  So only the common syntax of RE2
and Java is taken, and what remains doubtful is spelt out:

    written      meant, in both engines
    .            [^\n]
    \d \w \s     [0-9]  [0-9A-Za-z_]  [\t\n\x0b\f\r ]   (also inside brackets); \D \W \S their opposites
    ^  $         start and end of the text, never of a line
"""

from __future__ import annotations

import re

from cepctl.errors import QuerySemanticError

MAX_REPEAT = 1000
MAX_PATTERN_LENGTH = 1000
_MAX_GROUPS = 50

_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\x0b\f\r "}
_CONTROLS = {"t": r"\t", "n": r"\n", "r": r"\r", "f": r"\f"}
_PUNCTUATION = frozenset("\\.+*?()|[]{}^$-/#&~!\"%',:;<=>@_` ")
_REPEAT = re.compile(r"\{([0-9]{1,6})(,([0-9]{0,6}))?\}")


def like_to_regular_expression(pattern: str) -> str:
    r"""The regular expression of a LIKE pattern: `%` any text, `_` any sign, `\` the escape.

    Raises
    ------
    QuerySemanticError
        If `\` stands before anything but `%`, `_` or `\`.

    Examples
    --------
    >>> like_to_regular_expression(r"50\%_")
    '(?s)\\A50%.\\z'
    """
    result: list[str] = []
    signs = iter(pattern)
    for sign in signs:
        if sign == "\\":
            escaped = next(signs, "")
            if escaped not in ("%", "_", "\\"):
                raise QuerySemanticError(r"in LIKE, '\' stands before %, _ or \ only; write \\ for itself")
            result.append(_literal(escaped))
        else:
            result.append({"%": ".*", "_": "."}.get(sign) or _literal(sign))
    return rf"(?s)\A{''.join(result)}\z"


def portable_regular_expression(pattern: str) -> str:
    r"""The pattern of regexp_like, rewritten so that Rust and Java agree on it.

    Raises
    ------
    QuerySemanticError
        If the pattern goes beyond the common syntax, naming what it is and where.

    Examples
    --------
    >>> portable_regular_expression(r"^job_\d+.$")
    '\\Ajob_[0-9]+[^\\n]\\z'
    """
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise QuerySemanticError(f"this regular expression is longer than {MAX_PATTERN_LENGTH} characters")
    reader = _Reader(pattern)
    result = reader.alternatives(0)
    if reader.position < len(pattern):
        reader.refuse("a ')' without its '('")
    return result


class _Reader:
    """One pass over a pattern; each method reads one piece and gives its portable text."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0

    def refuse(self, what: str) -> None:
        raise QuerySemanticError(
            f"regexp_like does not take {what} (character {self.position + 1} of the pattern); "
            "it takes the syntax that RE2 and Java share: . [ ] ( ) | * + ? {n,m} ^ $ \\d \\w \\s"
        )

    def _next(self) -> str:
        return self.pattern[self.position : self.position + 1]

    def alternatives(self, depth: int) -> str:
        if depth > _MAX_GROUPS:
            self.refuse("groups nested so deep")
        branches = [self._branch(depth)]
        while self._next() == "|":
            self.position += 1
            branches.append(self._branch(depth))
        return "|".join(branches)

    def _branch(self, depth: int) -> str:
        pieces: list[str] = []
        while (sign := self._next()) and sign not in "|)":
            piece, repeatable = self._atom(sign, depth)
            pieces.append(piece + self._repeat(repeatable))
        return "".join(pieces)

    def _atom(self, sign: str, depth: int) -> tuple[str, bool]:
        if sign in "*+?{":
            self.refuse(f"'{sign}' with nothing before it to repeat")
        if sign == "(":
            return self._group(depth), True
        if sign == "[":
            return self._brackets(), True
        if sign == "\\":
            return self._escape(), True
        self.position += 1
        if sign in "^$":
            return (r"\A" if sign == "^" else r"\z"), False
        return (r"[^\n]" if sign == "." else _literal(sign)), True

    def _group(self, depth: int) -> str:
        self.position += 1
        if self._next() == "?":
            if not self.pattern.startswith("?:", self.position):
                self.refuse("look-around, named groups or flags")
            self.position += 2
        inside = self.alternatives(depth + 1)
        if self._next() != ")":
            self.refuse("a '(' without its ')'")
        self.position += 1
        return f"(?:{inside})"

    def _escape(self) -> str:
        sign = self.pattern[self.position + 1 : self.position + 2]
        if sign.lower() in _CLASSES:
            text = f"[{'^' if sign.isupper() else ''}{_CLASSES[sign.lower()]}]"
        elif sign in _CONTROLS:
            text = _CONTROLS[sign]
        elif sign and sign in _PUNCTUATION:
            text = _literal(sign)
        else:
            self.refuse(rf"'\{sign}'")
        self.position += 2
        return text

    def _repeat(self, repeatable: bool) -> str:
        sign = self._next()
        if not sign or sign not in "*+?{":
            return ""
        if not repeatable:
            self.refuse(f"'{sign}' after ^ or $")
        text = sign
        if sign == "{":
            text = self._counted()
        else:
            self.position += 1
        if self._next() == "?":
            self.position += 1
        if self._next() and self._next() in "*+?{":
            self.refuse("a repetition of a repetition")
        return text

    def _counted(self) -> str:
        found = _REPEAT.match(self.pattern, self.position)
        if not found:
            self.refuse("a '{' that is no count; write \\{ for itself")
        assert found is not None
        low, high = int(found[1]), int(found[3] or found[1])
        if high > MAX_REPEAT or low > high:
            self.refuse(f"counts above {MAX_REPEAT} or out of order")
        self.position = found.end()
        return found[0]

    def _brackets(self) -> str:
        self.position += 1
        negated = self._next() == "^"
        self.position += negated
        members: list[str] = []
        while (sign := self._next()) != "]":
            if not sign or sign == "[":
                self.refuse("a '[' without its ']'" if not sign else "a '[' inside [ ]; write \\[ for itself")
            members.append(self._range(sign))
        if not members:
            self.refuse("empty brackets")
        self.position += 1
        return f"[{'^' if negated else ''}{''.join(members)}]"

    def _range(self, sign: str) -> str:
        if sign == "\\" and (kind := self.pattern[self.position + 1 : self.position + 2]).lower() in _CLASSES:
            if kind.isupper():
                self.refuse(rf"'\{kind}' inside [ ]")
            self.position += 2
            return _CLASSES[kind]
        first = self._member()
        dash = self._next() == "-" and self.pattern[self.position + 1 : self.position + 2] not in ("]", "")
        if not dash:
            return _bracket_literal(first)
        self.position += 1
        if self._next() == "[":
            self.refuse("a '[' inside [ ]; write \\[ for itself")
        last = self._member()
        if last < first:
            self.refuse(f"the range {first}-{last}, which is out of order")
        return f"{_bracket_literal(first)}-{_bracket_literal(last)}"

    def _member(self) -> str:
        sign = self._next()
        if sign != "\\":
            self.position += 1
            return sign
        escaped = self.pattern[self.position + 1 : self.position + 2]
        if escaped in _CONTROLS:
            self.position += 2
            return {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}[escaped]
        if not escaped or escaped not in _PUNCTUATION:
            self.refuse(rf"'\{escaped}' inside [ ]")
        self.position += 2
        return escaped


def _literal(sign: str) -> str:
    return "\\" + sign if sign in r"\.+*?()|[]{}^$" else sign


def _bracket_literal(sign: str) -> str:
    return "\\" + sign if sign in r"\[]^-&~" else sign
