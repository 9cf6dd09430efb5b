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
MAX_STEPS = 200_000
"""How large a pattern may be with its repetitions written out: Polars compiles at least 300,000 such steps.

A sign counts as many steps as it has bytes; each member of a set, each branch and each choice of a repetition
_FEW_STEPS; the dot, and a member of a set that is negated or not of ASCII, _UNICODE_STEPS.
"""
_MAX_GROUPS = 50
_UNICODE_STEPS = 40
_FEW_STEPS = 3

_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\x0b\f\r "}
_CONTROLS = {"t": r"\t", "n": r"\n", "r": r"\r", "f": r"\f"}
_PUNCTUATION = frozenset("\\.+*?()|[]{}^$-/#&~!\"%',:;<=>@_` ")
_REPEAT = re.compile(r"\{([0-9]{1,6})(,([0-9]{0,6}))?\}")


def like_to_regular_expression(pattern: str) -> str:
    r"""The regular expression of a LIKE pattern: `%` any text, `_` any sign, `\` the escape.

    Raises
    ------
    QuerySemanticError
        If `\` stands before anything but `%`, `_` or `\`, or the pattern is too long.

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
    steps = sum(_UNICODE_STEPS if sign in "%_" else len(sign.encode()) for sign in pattern)
    if steps > MAX_STEPS:
        raise QuerySemanticError(
            f"this LIKE pattern is too long: it has {steps:,} steps ('_' and '%' are {_UNICODE_STEPS} "
            f"each), and {MAX_STEPS:,} can be compiled"
        )
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
    if reader.steps > MAX_STEPS:
        raise QuerySemanticError(
            "the repetitions of this regular expression multiply: written out it has "
            f"{reader.steps:,} steps, and {MAX_STEPS:,} can be compiled; ask for fewer, or for + and *"
        )
    return result


class _Reader:
    """One pass over a pattern; each method reads one piece and gives its portable text.

    `steps` is how large what was read so far is with its repetitions written out.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.steps = 0

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
            self.steps += _FEW_STEPS
            branches.append(self._branch(depth))
        return "|".join(branches)

    def _branch(self, depth: int) -> str:
        pieces: list[str] = []
        while (sign := self._next()) and sign not in "|)":
            before = self.steps
            piece, repeatable = self._atom(sign, depth)
            pieces.append(piece + self._repeat(repeatable, before))
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
        self.steps += _UNICODE_STEPS if sign == "." else len(sign.encode())
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
            self.steps += _UNICODE_STEPS if sign.isupper() else _FEW_STEPS * len(_CLASSES[sign])
        elif sign in _CONTROLS:
            text = _CONTROLS[sign]
            self.steps += 1
        elif sign and sign in _PUNCTUATION:
            text = _literal(sign)
            self.steps += 1
        else:
            self.refuse(rf"'\{sign}'")
        self.position += 2
        return text

    def _repeat(self, repeatable: bool, before: int) -> str:
        """What is repeated began when there were `before` steps."""
        sign = self._next()
        if not sign or sign not in "*+?{":
            return ""
        if not repeatable:
            self.refuse(f"'{sign}' after ^ or $")
        text, times, choices = sign, 1, 1
        if sign == "{":
            text, times, choices = self._counted()
        else:
            self.position += 1
        self.steps += max(times - 1, 0) * (self.steps - before) + choices * _FEW_STEPS
        if self._next() == "?":
            self.position += 1
        if self._next() and self._next() in "*+?{":
            self.refuse("a repetition of a repetition")
        return text

    def _counted(self) -> tuple[str, int, int]:
        """A count as it is written, how often it repeats, and how many of these times are a choice."""
        found = _REPEAT.match(self.pattern, self.position)
        if not found:
            self.refuse("a '{' that is not a count; write \\{ for itself")
        assert found is not None
        low, high = int(found[1]), int(found[3] or found[1])
        if high > MAX_REPEAT or low > high:
            self.refuse(f"counts above {MAX_REPEAT} or out of order")
        self.position = found.end()
        endless = found[3] == ""
        return found[0], high + endless, high + endless - low

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
        unicode = len(members) if negated else sum(not member.isascii() for member in members)
        self.steps += _FEW_STEPS * len(members) + unicode * _UNICODE_STEPS
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
