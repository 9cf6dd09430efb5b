"""The words of the language: keywords, symbols that stand for them, and names that cannot be variables.

Keywords match without regard to case and are recognised by their place, so that an event type or an
attribute may be called `Event` or `within`; only variables must keep away from RESERVED.
"""

from __future__ import annotations

from typing import Literal, get_args

from cepctl.language.ast import AllenRelation
from cepctl.language.strategies import STRATEGIES

PATTERN_OPERATORS = ("SEQ", "AND", "OR", "ISEQ")
CLAUSES = (
    *("PATTERN", "EVENT", "WHERE", "PARTITION", "STRATEGY", "WITHIN", "CONFIDENCE", "GROUP", "GIVEN"),
    "RETURN",
)
LOGIC = ("AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "IS", "NULL", "TRUE", "FALSE", "AS", "BY", "INTERVAL")
MATCH_FIELDS = ("start", "end", "confidence")
GROUP_FIELDS = ("occurrence", "expected", "matches", "best", "confidence", "start", "end")
"""What rows of GROUP BY have beside their key; RETURN may name it there."""
FUNCTIONS = (
    "abs",
    "lower",
    "upper",
    "length",
    "coalesce",
    "regexp_like",
    "prob",
    "reached",
    "greatest",
    "least",
    "duration",
)
ALLEN_RELATIONS: tuple[AllenRelation, ...] = get_args(AllenRelation)
RELATIONS: tuple[str, ...] = (*ALLEN_RELATIONS, "intersects")

OTHER_LANGUAGES = {
    **dict.fromkeys(("SELECT", "WITH", "FROM", "MATCH_RECOGNIZE"), "SQL"),
    **dict.fromkeys(("SEQUENCE", "SAMPLE"), "EQL"),
}
"""What a query of another language begins with; none of these can begin one of ours."""

RESERVED = frozenset(
    word.lower() for word in (*PATTERN_OPERATORS, *CLAUSES, *LOGIC, *STRATEGIES, *MATCH_FIELDS)
) - {"group", "given"}
"""`GROUP` opens a clause only where BY follows, `GIVEN` where a pattern does; both may be variables."""

# Mathematical signs as the papers print them.
WORD_SYMBOLS = {"∧": "AND", "∨": "OR", "¬": "NOT"}
OPERATOR_SYMBOLS = {"≥": ">=", "≤": "<=", "≠": "<>", "×": "*", "!=": "<>", "==": "="}

EventTimeName = Literal["time", "lower", "upper", "start", "end"]
EVENT_TIMES: dict[str, EventTimeName] = {
    "time": "time",
    "timestamp": "time",
    "lower": "lower",
    "upper": "upper",
    "start": "start",
    "ts": "start",
    "end": "end",
    "te": "end",
}
"""What `a.<name>` means when the name stands without backticks; in backticks it is an attribute."""
