"""What queries of other languages write where ours goes on differently, and how that is written here.

The parser asks when it finds something else than it expected.  Nothing here is part of the language.
"""

from __future__ import annotations

from dataclasses import dataclass

from cepctl.language.tokens import Token, TokenKind

_ORDERED = (
    "rows come in the order of their confidence, the most probable first; the option --top-k N keeps the "
    "first N"
)
_FEWER = (
    "the command line says how many rows: --top-k N keeps the N most probable, --limit N writes N, "
    "--max-matches N refuses more"
)
_IN_ORDER = "events in sequence are written PATTERN SEQ(A a, B b)"
_IN_WHERE = "conditions stand in WHERE, joined by AND"
_TEXTS = "texts are compared by a.x LIKE 'begin%' or regexp_like(a.x, 'expression')"
_COMMENT = "a comment begins with -- and goes to the end of its line"
_STRATEGY = (
    "STRATEGY skip_till_any_match, skip_till_next_match or strict_contiguity says which events are skipped"
)
_COLUMNS = "columns are named by RETURN a.x, b.y"
_DURATION = "WITHIN is followed by the duration alone, as in WITHIN 5 s"
_BRACES = "braces stand after a strategy, as in WHERE skip_till_next_match(a, b) { a.x = b.x }"
_HOW_MANY = "how many stands once, after the type, as in B? b, B* b[], B+ b[], B{2} b[] or B{2,3} b[]"
_KEY = "a value that all events share is written WHERE [key], or PARTITION BY key"

# Words that a query may go on with elsewhere.
_WORDS = {
    "ORDER": _ORDERED,
    "SORT": _ORDERED,
    **dict.fromkeys(("LIMIT", "TOP", "FETCH", "OFFSET", "HEAD", "TAKE"), _FEWER),
    "HAVING": "keys of GROUP BY are left out by CONFIDENCE >= 0.6, events by WHERE",
    **dict.fromkeys(("FOLLOWED", "FOLLOWEDBY", "THEN", "NEXT", "BEFORE", "AFTERWARDS"), _IN_ORDER),
    **dict.fromkeys(("WITH", "MAXSPAN", "WINDOW", "TIMEFRAME"), "the window is written WITHIN 5 s"),
    **dict.fromkeys(("AFTER", "SKIP"), _STRATEGY),
    **dict.fromkeys(("DEFINE", "FILTER", "ON", "WHEN", "IF"), _IN_WHERE),
    **dict.fromkeys(("MEASURES", "SELECT", "EMIT", "PROJECT", "YIELD"), _COLUMNS),
    "FROM": "the events are named after the query: cepctl match 'PATTERN ...' EVENTS",
    "BY": _KEY,
    **dict.fromkeys(
        ("CONTAINS", "STARTSWITH", "ENDSWITH", "MATCHES", "RLIKE", "ILIKE", "REGEXP", "HAS", "GLOB"), _TEXTS
    ),
    "UNTIL": "an event that must not happen is written !N n between the others, and the longest "
    "duration WITHIN 5 s",
}
_SIGNS = {
    "&&": "conditions are joined by AND",
    "&": "conditions are joined by AND",
    "||": "alternatives are joined by OR",
    "===": "equality is written =",
    "=>": "at least is written >=",
    "=<": "at most is written <=",
    "=~": _TEXTS,
    "~": _TEXTS,
    ":": _TEXTS,
    "!": "the contrary is written NOT, as in NOT a.x = 1, or a.x <> 1",
    "#": _COMMENT,
    "/*": _COMMENT,
    "$": "a name has no $",
    "@": "a name has no @; a query in a file is named as @FILE on the command line",
    "|": "there are no pipes, each clause follows the previous one; alternatives are joined by OR",
    "{": _BRACES,
    "}": _BRACES,
    "?": "a query has no ?",
}
_IN_PATTERN = {
    "->": _IN_ORDER,
    "=>": _IN_ORDER,
    ";": "components are separated by ','",
    ":": "the type comes first and its variable after it, as in SEQ(A a, B b)",
    **dict.fromkeys(("?", "*", "{", "+"), _HOW_MANY),
}
_OUTSIDE = {"->": "an attribute is written a.x", ";": "a query ends without ';'"}
_BEHIND_PATTERN = {
    "->": _IN_ORDER,
    "=>": _IN_ORDER,
    ",": "several components stand in SEQ(...), AND(...) or OR(...), as in PATTERN SEQ(A a, B b)",
    "AND": _IN_WHERE,
    "(": "a pattern begins with SEQ, AND or OR, as in PATTERN SEQ(A a, B b)",
    "OR": f"{_IN_WHERE}; two patterns by OR(SEQ(A a, B b), SEQ(A a, C c))",
}


@dataclass(frozen=True)
class ParserPlace:
    """Where the parser stands: in which clause, and whether inside the brackets of a pattern."""

    clause: str | None = None
    in_pattern: bool = False


def habit(token: Token, place: ParserPlace) -> str | None:
    """How what is meant by a token is written here; None where that is not known."""
    name = token.value.upper() if token.kind is TokenKind.WORD else token.value
    if place.clause == "WITHIN" and token.kind is TokenKind.STRING:
        return _DURATION
    if token.kind not in (TokenKind.WORD, TokenKind.SYMBOL):
        return None
    if place.in_pattern:
        if name == "AS":
            return "the variable follows its type without AS, as in SEQ(A a, B b)"
        found = _IN_PATTERN.get(name)
        return found or (_WORDS.get(name) if name in _IN_ORDER_WORDS else _SIGNS.get(name))
    if place.clause == "PATTERN" and name in _BEHIND_PATTERN:
        return _BEHIND_PATTERN[name]
    if place.clause == "WHERE" and name == ",":
        return _IN_WHERE
    if place.clause == "WITHIN" and name in ("=", "<", "<=", ":"):
        return _DURATION
    if place.clause == "STRATEGY" and name in ("NEXT", "SKIP"):
        return None
    return _OUTSIDE.get(name) or _SIGNS.get(name) or _WORDS.get(name)


_IN_ORDER_WORDS = ("FOLLOWED", "FOLLOWEDBY", "THEN", "NEXT")
