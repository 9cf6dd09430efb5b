"""Parser for conditions and values: operator precedence over arithmetic, comparisons and logic.

binding, loosest first: OR, AND, NOT, comparisons (also IN, BETWEEN, LIKE, IS, Allen
relations; they do not chain), + -, * / %, the sign of a number
"""

from __future__ import annotations

from decimal import Decimal
from typing import cast, get_args

from cepctl.language.ast import (
    COMPARISONS,
    Allen,
    Between,
    Binary,
    BinaryOperator,
    Constant,
    Duration,
    Expression,
    In,
    IsNull,
    Like,
    Span,
    StrategyClause,
    Unary,
    Variable,
)
from cepctl.language.keywords import RESERVED
from cepctl.language.literals import duration, number
from cepctl.language.messages import QueryProblem
from cepctl.language.references import ReferenceParser
from cepctl.language.relations import at_relation, refinement, refuse_misspelt, relations
from cepctl.language.strategies import STRATEGIES
from cepctl.language.stream import TokenStream
from cepctl.language.tokens import Token, TokenKind
from cepctl.schema import MICROSECONDS

MAX_HEIGHT = 100
"""An expression tree may be this high; a chain of ANDs or ORs is balanced and needs little."""

_BALANCE_FROM = 32
_OR, _AND, _NOT, _COMPARE, _ADD, _MULTIPLY, _SIGN = range(1, 8)
_BINDING = {"+": _ADD, "-": _ADD, "*": _MULTIPLY, "/": _MULTIPLY, "%": _MULTIPLY}
_NOT_OPERANDS = RESERVED - {"null", "true", "false", "start", "end"}


class ExpressionParser(ReferenceParser):
    """Parses expressions; keeps the `[attr]` and strategy calls that it meets in WHERE aside.

    They stand in the tree as a TRUE that `asides` knows by identity, until the WHERE clause
    takes them out of its conjuncts.
    """

    def __init__(self, stream: TokenStream, bare_attributes: bool = False) -> None:
        super().__init__(stream, bare_attributes)
        self.asides: dict[int, tuple[Constant, tuple[str, ...] | StrategyClause]] = {}
        self.takes_asides = False
        self.takes_chains = False

    def expression(self) -> Expression:
        """One whole expression, its height checked."""
        start = self.stream.current.span
        result = self._binary(_OR)
        if not _is_lower_than(result, MAX_HEIGHT):
            raise QueryProblem(start, f"this expression is nested more than {MAX_HEIGHT} levels deep")
        return result

    def _binary(self, loosest: int) -> Expression:
        start = self.stream.current.span.start
        left = self._prefix()
        links = 0
        while True:
            token = self.stream.current
            if token.is_word("AND") and loosest <= _AND:
                left = self._chain("AND", _AND, left, start)
            elif token.is_word("OR") and loosest <= _OR:
                left = self._chain("OR", _OR, left, start)
            elif token.kind is TokenKind.SYMBOL and _BINDING.get(token.value, 0) >= loosest:
                links += 1
                if links > MAX_HEIGHT:
                    raise QueryProblem(token.span, f"more than {MAX_HEIGHT} operators in one chain")
                self.stream.take()
                right = self._binary(_BINDING[token.value] + 1)
                operator = cast(BinaryOperator, token.value)
                left = Binary(operator, left, right, self.stream.span_from(start))
            elif loosest <= _COMPARE and (compared := self._comparison(left, start)) is not None:
                left = self._chained(compared) if self.takes_chains else compared
                self._refuse_chained_comparison()
            else:
                return left

    def _chain(self, word: BinaryOperator, binding: int, first: Expression, start: int) -> Expression:
        operands = [first]
        while self.stream.accept_word(word):
            operands.append(self._binary(binding + 1))
        span = self.stream.span_from(start)
        if len(operands) <= _BALANCE_FROM:
            result = operands[0]
            for operand in operands[1:]:
                result = Binary(word, result, operand, span)
            return result
        while len(operands) > 1:
            pairs: list[Expression] = [
                Binary(word, left, right, span)
                for left, right in zip(operands[::2], operands[1::2], strict=False)
            ]
            operands = [*pairs, *operands[2 * len(pairs) :]]
        return operands[0]

    def _comparison(self, left: Expression, start: int) -> Expression | None:
        stream = self.stream
        if stream.current.kind is TokenKind.SYMBOL and stream.current.value in COMPARISONS:
            operator = cast(BinaryOperator, stream.take().value)
            return Binary(operator, left, self._binary(_ADD), stream.span_from(start))
        if stream.accept_word("IS"):
            negated = stream.accept_word("NOT") is not None
            if not stream.accept_word("NULL"):
                stream.fail("NULL or NOT NULL after IS")
            return IsNull(left, negated, stream.span_from(start))
        if isinstance(left, Variable) and at_relation(stream):
            found, right = relations(stream), self.variable_name()
            return Allen(found, left.name, right, *refinement(stream, found), stream.span_from(start))
        if isinstance(left, Variable) and stream.current.value.lower() not in RESERVED:
            refuse_misspelt(stream)
        negated = stream.current.is_word("NOT") and stream.ahead().is_word("IN", "BETWEEN", "LIKE")
        if negated:
            stream.take()
        if stream.accept_word("IN"):
            return In(left, self._choices(), negated, stream.span_from(start))
        if stream.accept_word("BETWEEN"):
            low = self._binary(_ADD)
            if not stream.accept_word("AND"):
                stream.fail("AND and the upper bound of BETWEEN")
            return Between(left, low, self._binary(_ADD), negated, stream.span_from(start))
        if stream.accept_word("LIKE"):
            pattern = stream.take() if stream.current.kind is TokenKind.STRING else None
            text = (pattern or stream.fail("a pattern in quotes after LIKE")).value
            return Like(left, text, negated, stream.span_from(start))
        return None

    def _chained(self, compared: Expression) -> Expression:
        """`x < y < z`, as Li10 writes it in ISEQ's brackets: `x < y AND y < z`."""
        stream, last = self.stream, compared
        while isinstance(last, Binary) and stream.current.is_symbol(*COMPARISONS):
            start = last.right.span.start
            operator = cast(BinaryOperator, stream.take().value)
            last = Binary(operator, last.right, self._binary(_ADD), stream.span_from(start))
            compared = Binary("AND", compared, last, stream.span_from(compared.span.start))
        return compared

    def _refuse_chained_comparison(self) -> None:
        token = self.stream.current
        if token.kind is TokenKind.SYMBOL and token.value in COMPARISONS:
            raise QueryProblem(token.span, "comparisons do not chain; write a < b AND b < c")

    def _choices(self) -> tuple[Expression, ...]:
        self.stream.expect_symbol("(", "'(' and the choices after IN")
        self.stream.enter()
        choices = [self._binary(_ADD)]
        while self.stream.accept_symbol(","):
            choices.append(self._binary(_ADD))
        self.stream.depth -= 1
        self.stream.expect_symbol(")", "',' or ')'")
        return tuple(choices)

    def _prefix(self) -> Expression:
        self.stream.enter()
        result = self._prefix_inside()
        self.stream.depth -= 1
        return result

    def _prefix_inside(self) -> Expression:
        stream = self.stream
        token, start = stream.current, stream.current.span.start
        if stream.accept_word("NOT"):
            return Unary("NOT", self._binary(_NOT), stream.span_from(start))
        if sign := stream.accept_symbol("-", "+"):
            operand = self._binary(_SIGN)
            return Unary("-" if sign.value == "-" else "+", operand, stream.span_from(start))
        if stream.accept_symbol("("):
            inner = self._binary(_OR)
            stream.expect_symbol(")", "')', AND, OR or an operator")
            return inner
        if token.kind is TokenKind.NUMBER:
            return self.number_or_duration()
        if token.kind is TokenKind.STRING:
            stream.take()
            return Constant(token.value, token.span)
        if token.is_symbol("[") and self.takes_asides:
            return self._aside(self.key_names(), start)
        if token.is_word("INTERVAL") and stream.ahead().kind is TokenKind.STRING:
            return self._interval()
        if token.is_word("NULL", "TRUE", "FALSE"):
            stream.take()
            return Constant({"NULL": None, "TRUE": True, "FALSE": False}[token.value.upper()], token.span)
        if token.kind is TokenKind.WORD and stream.ahead().is_symbol("("):
            if token.value.lower() in STRATEGIES and self.takes_asides:
                return self._with_conditions(self._aside(self.strategy_call(), start), start)
            return self.call(self._binary)
        if token.kind in (TokenKind.WORD, TokenKind.QUOTED_NAME):
            return self.reference_expression()
        stream.fail("a value, such as a.value, 95 or 'text'")
        raise AssertionError("unreachable: fail raises")

    # --- literals -----------------------------------------------------------------------

    def number_or_duration(self) -> Constant | Duration:
        """A number, with a time unit after it a duration; a percent sign that ends it is dropped."""
        token = self.stream.take()
        unit = self.stream.current
        if unit.kind is TokenKind.WORD and unit.value.lower() in (*MICROSECONDS, "tick", "ticks"):
            self.stream.take()
            return duration(token, unit)
        if unit.is_symbol("%") and not _starts_operand(self.stream.ahead()):
            self._refuse_share(token)
            self.stream.take()
        return Constant(number(token), token.span)

    def _refuse_share(self, number: Token) -> None:
        """`80%*a.v` would be 80 times a.v, not what a percentage means: as a factor it has to be a number."""
        stream, back, on = self.stream, -2, 1
        while stream.position + back > 0 and stream.ahead(back).is_symbol("(", "-", "+"):
            back -= 1
        while stream.ahead(on).is_symbol(")"):
            on += 1
        before, behind = stream.ahead(back), stream.ahead(on)
        if not (before.is_symbol("*", "/") or behind.is_symbol("*", "/")):
            return
        share = f"{Decimal(number.value) / 100:f}"
        share = share.rstrip("0").rstrip(".") if "." in share else share
        if behind.is_symbol("*", "/"):
            named, dot, name = (stream.ahead(on + i) for i in (1, 2, 3))
            operand = f"{named.value}.{name.value}" if dot.is_symbol(".") else "..."
            meant = f"{share} {behind.value} {operand}"
        else:
            meant = f"... {before.value} {share}"
        shown = Span(number.span.start, stream.current.span.end)
        raise QueryProblem(
            shown, f"{number.value}% is not a factor: it would be {number.value}; write {meant}"
        )

    def _interval(self) -> Duration:
        self.stream.take()
        amount, unit = self.stream.take(), self.stream.current
        if unit.kind is not TokenKind.WORD or unit.value.lower() not in MICROSECONDS:
            self.stream.fail(
                "a time unit, as in INTERVAL '15' SECOND", ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK")
            )
        self.stream.take()
        return duration(amount, unit)

    # --- what the papers write inside WHERE -----------------------------------------------

    def _aside(self, clause: tuple[str, ...] | StrategyClause, start: int) -> Constant:
        marker = Constant(True, self.stream.span_from(start))
        self.asides[id(marker)] = (marker, clause)
        return marker

    def _with_conditions(self, strategy: Constant, start: int) -> Expression:
        """SASE's `strategy(a, b[]) { conditions }`: the strategy, and the conditions behind it."""
        if not self.stream.accept_symbol("{"):
            return strategy
        self.stream.enter()
        conditions = self._binary(_OR)
        self.stream.depth -= 1
        self.stream.expect_symbol("}", "'}', AND, OR or an operator")
        return Binary("AND", strategy, conditions, self.stream.span_from(start))

    def key_names(self) -> tuple[str, ...]:
        """`[attr]` or `[a, b]`: the attributes that all components share."""
        self.stream.expect_symbol("[")
        names = [self.attribute_name("the name of an attribute that all components share")]
        while self.stream.accept_symbol(","):
            names.append(self.attribute_name())
        if self.stream.current.is_symbol("."):
            self.stream.fail("',' or ']'; inside [ ] stands an attribute without a variable")
        self.stream.expect_symbol("]", "',' or ']'")
        return tuple(names)

    def strategy_call(self) -> StrategyClause:
        word = self.stream.take()
        self.stream.expect_symbol("(")
        variables = [self._listed_variable()]
        while self.stream.accept_symbol(","):
            variables.append(self._listed_variable())
        self.stream.expect_symbol(")", "',' or ')'")
        span = self.stream.span_from(word.span.start)
        return StrategyClause(STRATEGIES[word.value.lower()], tuple(variables), span)

    def _listed_variable(self) -> str:
        name = self.variable_name()
        if self.stream.accept_symbol("["):
            self.stream.expect_symbol("]")
        return name


def _starts_operand(token: Token) -> bool:
    if token.kind is TokenKind.WORD:
        return token.value.lower() not in _NOT_OPERANDS
    if token.kind is TokenKind.SYMBOL:
        return token.value in ("(", "-", "+")
    return token.kind is not TokenKind.END


def _is_lower_than(expression: Expression, limit: int) -> bool:
    pending: list[tuple[object, int]] = [(expression, 1)]
    while pending:
        node, height = pending.pop()
        if height > limit:
            return False
        for value in vars(node).values() if isinstance(node, get_args(Expression)) else ():
            children = value if isinstance(value, tuple) else (value,)
            pending.extend((child, height + 1) for child in children if not isinstance(child, str | int))
    return True
