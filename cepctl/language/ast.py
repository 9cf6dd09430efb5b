"""The query as written: frozen values with source spans, nothing resolved yet.

One class per construct of the language reference.  Variables are kept as the user spelt
them; resolving names, types and time units is the analyzer's part (cepctl.plan).  Spans do not
take part in equality, so that printing a query and parsing it again gives an equal value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from cepctl.language.strategies import Strategy


@dataclass(frozen=True)
class Span:
    """Where something stands in the query text: character offsets, `end` excluded."""

    start: int
    end: int


NOWHERE = Span(0, 0)


def _span() -> Span:
    return field(default=NOWHERE, compare=False, repr=False)


# --- expressions ------------------------------------------------------------------------


@dataclass(frozen=True)
class Constant:
    """A literal: number, string, boolean or NULL."""

    value: int | float | str | bool | None
    span: Span = _span()


@dataclass(frozen=True)
class Duration:
    """A length of time: `microseconds`, or a whole number of `ticks` when written so."""

    microseconds: Fraction | None
    ticks: int | None = None
    span: Span = _span()


MemberIndex: TypeAlias = Literal["each", "previous", "first", "last"]


@dataclass(frozen=True)
class Attribute:
    """`a.name`; for a Kleene variable `member` says which: b[i], b[i-k], b[first], b[last].

    `back` is the k of b[i-k].
    """

    variable: str
    name: str
    member: MemberIndex | None = None
    span: Span = _span()
    back: int = 1


@dataclass(frozen=True)
class EventTime:
    """`a.time`, `a.lower`, `a.upper`, `a.start`, `a.end`: a time of the event itself."""

    variable: str
    which: Literal["time", "lower", "upper", "start", "end"]
    member: MemberIndex | None = None
    span: Span = _span()
    back: int = 1


@dataclass(frozen=True)
class Aggregate:
    """An aggregate over `b[].name`, or over `b[1..i-1].name` (`before`) or `b[1..i].name` (`own`, too).

    `function` is a word of `AGGREGATES`; `name` is None for `count(b[])`.
    """

    function: str
    variable: str
    name: str | None
    before: bool = False
    span: Span = _span()
    own: bool = False


@dataclass(frozen=True)
class Variable:
    """A bare variable: in RETURN its event id."""

    name: str
    span: Span = _span()


@dataclass(frozen=True)
class MatchField:
    """`start`, `end` or `confidence` of the match, in RETURN."""

    name: Literal["start", "end", "confidence"]
    span: Span = _span()


UnaryOperator: TypeAlias = Literal["-", "+", "NOT"]
BinaryOperator: TypeAlias = Literal["AND", "OR", "=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"]
COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})


@dataclass(frozen=True)
class Unary:
    operator: UnaryOperator
    operand: Expression
    span: Span = _span()


@dataclass(frozen=True)
class Binary:
    """AND, OR, a comparison, or arithmetic."""

    operator: BinaryOperator
    left: Expression
    right: Expression
    span: Span = _span()


@dataclass(frozen=True)
class In:
    operand: Expression
    choices: tuple[Expression, ...]
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True)
class Between:
    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True)
class Like:
    operand: Expression
    pattern: str
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True)
class IsNull:
    operand: Expression
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True)
class Call:
    """abs, lower, upper, length, coalesce or regexp_like; `function` in lower case."""

    function: str
    arguments: tuple[Expression, ...]
    span: Span = _span()


AllenRelation: TypeAlias = Literal[
    "before",
    "after",
    "meets",
    "met_by",
    "overlaps",
    "overlapped_by",
    "starts",
    "started_by",
    "during",
    "contains",
    "finishes",
    "finished_by",
    "equals",
]


Interrelation: TypeAlias = AllenRelation | Literal["intersects"]


@dataclass(frozen=True)
class Allen:
    """`a OVERLAPS|DURING b TOLERANCE d`, or `a INTERSECTS b BY d`: how two interval events lie in time.

    One of the `relations` holds.  Endpoints at most `tolerance` apart count as equal; `by` is how long at
    least both last together.
    """

    relations: tuple[Interrelation, ...]
    left: str
    right: str
    tolerance: Duration | None = None
    by: Duration | None = None
    span: Span = _span()


@dataclass(frozen=True)
class EndpointDifference:
    """`t(left) - t(right) <= bound` in ticks; None is the constant 0, `_end` the end of an event.

    Of a group, `_member` says which one is meant; None for each of them.
    """

    left: str | None
    right: str | None
    bound: int
    not_equal: bool = False
    left_end: bool = False
    right_end: bool = False
    left_member: MemberIndex | None = None
    right_member: MemberIndex | None = None


@dataclass(frozen=True)
class Probability:
    """`prob(condition)`, by the laws of the events that it names alone.

    One of the `cases` holds where the condition does, and no two at once; `variables` in lower case.
    """

    condition: Expression
    variables: tuple[str, ...]
    cases: tuple[tuple[EndpointDifference, ...], ...]
    span: Span = _span()


@dataclass(frozen=True)
class ReachedTick:
    """`reached(share)` of the match, in RETURN.

    The smallest tick by which the worlds that return the row and have decided it are as probable as `share`.
    """

    share: float
    span: Span = _span()


Expression: TypeAlias = (
    Constant
    | Duration
    | Attribute
    | EventTime
    | Aggregate
    | Variable
    | MatchField
    | Unary
    | Binary
    | In
    | Between
    | Like
    | IsNull
    | Call
    | Allen
    | Probability
    | ReachedTick
)


# --- pattern ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantifier:
    """How many events a component binds: from `least` to `most`, None for any number.

    `braces` says that it is written `{..}`, as `?` and `*` are not.
    """

    least: int
    most: int | None
    braces: bool = False


@dataclass(frozen=True)
class ComponentPattern:
    """`Type`, `Type var`, `A|B x`, `* x`, `Type+ var[]`, or one of them negated.

    `event_types` is empty for `*`; `variable` is None when the component is unnamed.  `quantifier` stands for
    `?`, `*` and `{m,n}`; what binds a group, as the last two, is `kleene`, too.  `running` asks for a match
    after each tick at which the group took.  A component of `SEQ(B b[], C c[])+` is `repeated`, and `kleene`:
    it binds an event in each repetition.
    """

    event_types: tuple[str, ...]
    variable: str | None = None
    kleene: bool = False
    negated: bool = False
    span: Span = _span()
    quantifier: Quantifier | None = None
    running: bool = False
    repeated: bool = False

    @property
    def how_many(self) -> Quantifier:
        """How many events a match binds to it."""
        return self.quantifier or Quantifier(1, None if self.kleene else 1)

    @property
    def optional(self) -> bool:
        """Whether a match may bind nothing to it."""
        return self.how_many.least == 0

    @property
    def name(self) -> str:
        """The variable as it is written; an unnamed component is called by its types."""
        return self.variable if self.variable is not None else "|".join(self.event_types) or "*"


@dataclass(frozen=True)
class Composite:
    """SEQ, AND, OR or ISEQ over patterns; negated means absent as a whole, kleene once or several times."""

    operator: Literal["SEQ", "AND", "OR", "ISEQ"]
    parts: tuple[Pattern, ...]
    negated: bool = False
    kleene: bool = False
    span: Span = _span()


Pattern: TypeAlias = ComponentPattern | Composite


# --- the whole query ---------------------------------------------------------------------


@dataclass(frozen=True)
class StrategyClause:
    """The strategy; `variables` when written in WHERE as the papers do, else empty."""

    strategy: Strategy
    variables: tuple[str, ...] = ()
    span: Span = _span()


@dataclass(frozen=True)
class ReturnItem:
    expression: Expression
    alias: str | None = None
    text: str = field(default="", compare=False)
    span: Span = _span()


@dataclass(frozen=True)
class GivenClause:
    """`GIVEN SEQ(...) [WITHIN d] IF condition`: what every world must satisfy.

    `text` is the clause as written, without the word GIVEN.
    """

    pattern: Pattern
    condition: Expression
    within: Duration | None = None
    text: str = field(default="", compare=False)
    span: Span = _span()


@dataclass(frozen=True)
class Query:
    """All clauses of one query.

    `where` is the whole condition without `[attr]` and without the strategy, which the papers
    write inside WHERE; these stand in `partition_by` and `strategy`.  `group_by` is None without GROUP BY
    and empty for `GROUP BY ()`, the whole input.
    """

    pattern: Pattern
    where: Expression | None = None
    partition_by: tuple[str, ...] = ()
    strategy: StrategyClause | None = None
    within: Duration | None = None
    confidence: float | None = None
    group_by: tuple[ReturnItem, ...] | None = None
    returns: tuple[ReturnItem, ...] = ()
    given: tuple[GivenClause, ...] = ()
    text: str = field(default="", compare=False, repr=False)
    span: Span = _span()
