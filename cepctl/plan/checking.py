"""Checks names, members and types of the expressions of a query, and infers what they give.

Every problem is collected; a part that could not be understood has type ANY, so that one
mistake is reported once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cepctl.errors import QuerySemanticError
from cepctl.language.aggregates import AGGREGATES
from cepctl.language.ast import (
    COMPARISONS,
    Aggregate,
    Allen,
    Attribute,
    Between,
    Binary,
    Call,
    Constant,
    Duration,
    EventTime,
    Expression,
    In,
    IsNull,
    Like,
    MatchField,
    MemberIndex,
    Probability,
    ReachedTick,
    Span,
    Unary,
    Variable,
)
from cepctl.language.messages import did_you_mean, name_list
from cepctl.language.printer import expression_to_text, members_read, variable_text
from cepctl.language.text_patterns import like_to_regular_expression, portable_regular_expression
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.or_free_patterns import VariableBinding, VariableNames
from cepctl.plan.problems import QueryProblems
from cepctl.plan.value_types import ValueType, common, comparable, from_arrow

_GIVES = {"integer": ValueType.INTEGER, "number": ValueType.FLOAT}
Clause = Literal["WHERE", "RETURN"]

READABLE_COLUMNS = ("event_id", "event_type")
"""Fixed columns of the event table that a query may read like attributes."""

_ARGUMENTS = {"abs": (1, 1), "lower": (1, 1), "upper": (1, 1), "length": (1, 1),
              "coalesce": (1, 100), "regexp_like": (2, 2), "prob": (1, 1), "reached": (1, 1),
              "greatest": (1, 100), "least": (1, 100), "duration": (2, 2), "*": (0, 1)}  # fmt: skip


@dataclass(frozen=True)
class Checker:
    """Checks the expressions of one query against its variables and the events' attributes."""

    names: VariableNames
    schema: EventSchema | None
    problems: QueryProblems
    clause: Clause

    def condition(self, expression: Expression) -> None:
        """Check an expression that must be true or false."""
        if not self.value(expression).is_truth:
            self.problems.error(expression.span, f"{_shown(expression)} is not a condition")

    def attribute(self, name: str, span: Span, variable: str = "") -> ValueType:
        """Type of an attribute; an unknown one is a problem."""
        if self.schema is None:
            return ValueType.ANY
        if name in self.schema.readable:
            return from_arrow(self.schema.readable[name])
        if name in READABLE_COLUMNS:
            return ValueType.STRING
        listed = name_list(sorted(self.schema.attributes))
        nearest = did_you_mean(name, sorted(self.schema.readable)) or f"; they have {listed or 'none'}"
        of = f" (read as {variable}.{name})" if variable else ""
        self.problems.error(span, f"no event has an attribute '{name}'{of}{nearest}")
        return ValueType.ANY

    def value(self, expression: Expression) -> ValueType:
        """Check an expression and infer its type."""
        match expression:
            case Constant(value):
                return _constant_type(value)
            case Duration():
                return ValueType.DURATION
            case Attribute(variable, name, member, span):
                self._member(variable, member, span)
                return self.attribute(name, span, variable)
            case EventTime():
                return self._event_time(expression)
            case Aggregate():
                return self._aggregate(expression)
            case Variable(name, span):
                return self._variable(name, span)
            case MatchField() | ReachedTick():
                return self._of_match(expression)
            case Allen() | Probability():
                return self._of_times(expression)
            case Unary() | Binary():
                return self._operator(expression)
            case Call():
                return self._call(expression)
            case _:
                return self._predicate(expression)

    # --- names ----------------------------------------------------------------------------

    def _resolve(self, variable: str, span: Span) -> VariableBinding | None:
        binding = self.names.resolve(variable, span, self.problems)
        if binding is not None and binding.negated and self.clause == "RETURN":
            self.problems.error(span, f"'{variable}' is negated: a match binds no event to it")
        return binding

    def _member(self, variable: str, member: MemberIndex | None, span: Span) -> None:
        binding = self._resolve(variable, span)
        if binding is None or binding.negated:
            return
        shown = variable_text(variable)
        if binding.kleene and member is None:
            self.problems.error(
                span,
                f"'{shown}' is a group of events: write {shown}[i] for each of them, "
                f"{shown}[first], {shown}[last], or an aggregate such as avg({shown}[].x)",
            )
        elif not binding.kleene and member is not None:
            self.problems.error(span, f"'{shown}' is one event, without [ ]; only Type+ {shown}[] is a group")
        elif self.clause == "RETURN" and member in ("each", "previous"):
            message = (
                f"{shown}[i] stands for many values; return {shown}[first], {shown}[last] or an aggregate"
            )
            self.problems.error(span, message)

    def _unknown_name(self, name: str) -> str | None:
        """What a name alone may mean that is no variable; None where it looks like one."""
        known = [binding.name for binding in self.names.bindings.values()]
        if not known or did_you_mean(name, known):
            return None
        attribute = self.schema is None or name in self.schema.readable
        read = f"{variable_text(known[0])}.{name if attribute else 'x'}"
        shown = f"GROUP BY {read} or RETURN {read}" if self.clause == "RETURN" else read
        text = "" if attribute and self.schema else f", and a text is written in quotes, '{name}'"
        return f"no variable '{name}' in the pattern; an attribute is read of a variable, as in {shown}{text}"

    def _variable(self, name: str, span: Span) -> ValueType:
        unknown = self._unknown_name(name) if self.names.find(name) is None else None
        if unknown is not None:
            self.problems.error(span, unknown)
            return ValueType.ANY
        if self._resolve(name, span) is not None and self.clause == "WHERE":
            hint = f"; for a text write '{name}'"
            shown = variable_text(name)
            message = f"'{name}' is an event, not a value: name an attribute, as in {shown}.value{hint}"
            self.problems.error(span, message)
            return ValueType.ANY
        return ValueType.STRING if self.names.find(name) else ValueType.ANY

    def _relation(self, relation: Allen) -> ValueType:
        for name in (relation.left, relation.right):
            binding = self.names.resolve(name, relation.span, self.problems)
            if binding is not None and binding.kleene:
                self.problems.refuse(relation.span, f"a relation of '{name}', which is a group of events")
        return ValueType.BOOLEAN

    def _of_match(self, field: MatchField | ReachedTick) -> ValueType:
        name = field.name if isinstance(field, MatchField) else "reached"
        if self.clause == "WHERE":
            own = (
                "; a clause of its own keeps likely matches: CONFIDENCE >= 0.6"
                if name == "confidence"
                else ""
            )
            self.problems.error(field.span, f"'{name}' of the match can be read in RETURN only{own}")
        return ValueType.FLOAT if name == "confidence" else ValueType.INTEGER

    def _of_times(self, expression: Allen | Probability) -> ValueType:
        if isinstance(expression, Allen):
            return self._relation(expression)
        return self._probability(expression)

    def _probability(self, probability: Probability) -> ValueType:
        for name in probability.variables:
            binding = self._resolve(name, probability.span)
            if binding is not None and binding.kleene:
                self.problems.refuse(probability.span, f"prob of '{name}', which is a group of events")
        return ValueType.FLOAT

    def _event_time(self, time: EventTime) -> ValueType:
        self._member(time.variable, time.member, time.span)
        return ValueType.INTEGER if time.which in ("lower", "upper") else ValueType.TIME

    def _aggregate(self, aggregate: Aggregate) -> ValueType:
        binding = self._resolve(aggregate.variable, aggregate.span)
        if binding is not None and not binding.kleene:
            self.problems.error(
                aggregate.span, f"'{aggregate.variable}' is one event, {aggregate.function} takes a group"
            )
        if aggregate.before and self.clause == "RETURN":
            self.problems.error(aggregate.span, f"[{members_read(aggregate)}] is allowed in WHERE only")
        if aggregate.name is None:
            return ValueType.INTEGER
        found = self.attribute(aggregate.name, aggregate.span, f"{aggregate.variable}[]")
        function = AGGREGATES[aggregate.function]
        if function.of_numbers and not found.is_number:
            self.problems.error(
                aggregate.span, f"{aggregate.function} takes numbers, {aggregate.name} is {found.value}"
            )
            return ValueType.FLOAT
        return found if function.gives is None else _GIVES[function.gives]

    # --- operators --------------------------------------------------------------------------

    def _operator(self, expression: Unary | Binary) -> ValueType:
        if isinstance(expression, Unary):
            if expression.operator == "NOT":
                self.condition(expression.operand)
                return ValueType.BOOLEAN
            return self._number(expression.operand, expression.operator)
        if expression.operator in ("AND", "OR"):
            self.condition(expression.left)
            self.condition(expression.right)
            return ValueType.BOOLEAN
        if expression.operator in COMPARISONS:
            self._comparison(expression.left, expression.right, expression.operator, expression.span)
            return ValueType.BOOLEAN
        left = self._number(expression.left, expression.operator)
        right = self._number(expression.right, expression.operator)
        if expression.operator == "/":
            return ValueType.FLOAT
        if ValueType.FLOAT in (left, right):
            return ValueType.FLOAT
        return ValueType.ANY if ValueType.ANY in (left, right) else ValueType.INTEGER

    def _number(self, expression: Expression, operator: str) -> ValueType:
        found = self.value(expression)
        if found in (ValueType.TIME, ValueType.DURATION):
            returned = self.clause == "RETURN"
            self.problems.error(expression.span, _RETURNED_TIME_RULE if returned else _TIME_RULE)
            return ValueType.ANY
        if not found.is_number:
            message = f"'{operator}' takes numbers, {_shown(expression)} is {found.value}"
            self.problems.error(expression.span, message)
            return ValueType.ANY
        return found

    def _comparison(self, left: Expression, right: Expression, operator: str, span: Span) -> None:
        kinds = self.value(left), self.value(right)
        if ValueType.TIME in kinds or ValueType.DURATION in kinds:
            self.problems.error(span, _TIME_RULE)
        elif not comparable(*kinds):
            self.problems.error(
                span,
                f"{_shown(left)} is {kinds[0].value} and {_shown(right)} {kinds[1].value}: "
                "they cannot be compared",
            )
            if any(kind.is_number for kind in kinds):
                self.problems.texts += [
                    side.name
                    for side, kind in zip((left, right), kinds, strict=True)
                    if isinstance(side, Attribute) and kind is ValueType.STRING
                ]
        elif kinds[0] in (ValueType.BOOLEAN, ValueType.OTHER) and operator not in ("=", "<>"):
            self.problems.error(span, f"{_shown(left)} is {kinds[0].value} and has no order; use = or <>")

    def _predicate(self, expression: Expression) -> ValueType:
        match expression:
            case Between(operand, low, high, _, span):
                self._comparison(operand, low, ">=", span)
                self._comparison(operand, high, "<=", span)
            case In(operand, choices, _, span):
                for choice in choices:
                    self._comparison(operand, choice, "=", span)
            case Like(operand, pattern, _, span):
                self._text(operand, "LIKE")
                self._pattern(pattern, span, like=True)
            case IsNull(operand):
                if self.value(operand) in (ValueType.TIME, ValueType.DURATION):
                    self.problems.error(expression.span, _TIME_RULE)
        return ValueType.BOOLEAN

    def _text(self, expression: Expression, operator: str) -> None:
        found = self.value(expression)
        if not found.is_text:
            message = f"{operator} takes a string, {_shown(expression)} is {found.value}"
            self.problems.error(expression.span, message)

    def _pattern(self, pattern: str, span: Span, like: bool) -> None:
        try:
            like_to_regular_expression(pattern) if like else portable_regular_expression(pattern)
        except QuerySemanticError as problem:
            self.problems.error(span, str(problem))

    def _call(self, call: Call) -> ValueType:
        least, most = _ARGUMENTS[call.function]
        arguments = call.arguments
        if not least <= len(arguments) <= most:
            takes = {1: "one argument", 2: "a text and a pattern", 100: "1 to 100 arguments"}[most]
            self.problems.error(call.span, f"{call.function} takes {takes}, here are {len(arguments)}")
            return ValueType.ANY
        if call.function == "abs":
            return self._number(arguments[0], "abs")
        if call.function == "coalesce":
            return self._coalesce(arguments, call.span)
        if call.function in ("greatest", "least"):
            kinds = [self._number(each, call.function) for each in arguments]
            return common(kinds) or ValueType.FLOAT
        if call.function in ("duration", "*"):
            message = f"{_shown(call)} stands alone in RETURN, of matches"
            if call.function == "duration":
                message += "; in WHERE two times are compared, as in b.time - a.time <= 5 s"
            self.problems.error(call.span, message)
            return ValueType.FLOAT
        self._text(arguments[0], call.function)
        if call.function == "regexp_like":
            pattern = arguments[1]
            if isinstance(pattern, Constant) and isinstance(pattern.value, str):
                self._pattern(pattern.value, pattern.span, like=False)
            else:
                self.problems.error(pattern.span, "the pattern of regexp_like must be a text in quotes")
            return ValueType.BOOLEAN
        return ValueType.INTEGER if call.function == "length" else ValueType.STRING

    def _coalesce(self, arguments: Sequence[Expression], span: Span) -> ValueType:
        found = common([self.value(argument) for argument in arguments])
        if found is None:
            self.problems.error(span, "the arguments of coalesce have different types")
        if found in (ValueType.TIME, ValueType.DURATION):
            self.problems.error(span, _TIME_RULE)
        return found or ValueType.ANY


_TIME_RULE = (
    "a time may only be compared with another time or an ISO constant, plus or minus a duration "
    "(b.time - a.time <= 5 s), as a condition of its own joined by AND; a.lower and a.upper are numbers"
)


_RETURNED_TIME_RULE = "RETURN duration(a, b) gives how long it took from a to b, least and most"


def _constant_type(value: int | float | str | bool | None) -> ValueType:
    if value is None:
        return ValueType.ANY
    if isinstance(value, bool):
        return ValueType.BOOLEAN
    if isinstance(value, int):
        return ValueType.INTEGER
    return ValueType.STRING if isinstance(value, str) else ValueType.FLOAT


def _shown(expression: Expression) -> str:
    text = expression_to_text(expression)
    return text if len(text) <= 40 else text[:37] + "..."
