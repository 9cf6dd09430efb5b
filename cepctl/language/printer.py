"""Query values back to text; parsing the text again gives an equal value.

One spelling for each construct: keywords in capitals, parentheses only where they are needed,
names in quotes or backticks only where the language asks for it.
"""

from __future__ import annotations

import re
from fractions import Fraction

from cepctl.language.ast import (
    Aggregate,
    Allen,
    Attribute,
    Between,
    Binary,
    Call,
    ComponentPattern,
    Constant,
    Duration,
    EventTime,
    Expression,
    GivenClause,
    In,
    IsNull,
    Like,
    MatchField,
    Pattern,
    Probability,
    Query,
    ReachedTick,
    ReturnItem,
    Unary,
    Variable,
)
from cepctl.language.keywords import EVENT_TIMES, RESERVED
from cepctl.schema import MICROSECONDS

_PLAIN = re.compile(r"[^\W\d]\w*")
_OR, _AND, _NOT, _COMPARE, _ADD, _MULTIPLY, _SIGN, _ATOM = range(1, 9)
_BINDING = {"OR": _OR, "AND": _AND, "+": _ADD, "-": _ADD, "*": _MULTIPLY, "/": _MULTIPLY, "%": _MULTIPLY}
_MEMBERS = {None: "", "each": "[i]", "previous": "[i-{}]", "first": "[first]", "last": "[last]"}


def to_text(query: Query) -> str:
    """The query, one clause per line.

    Examples
    --------
    >>> from cepctl.language.parser import parse
    >>> print(to_text(parse("event seq(A, !B b) where [id] within 90s")))
    PATTERN SEQ(A, !B b)
    PARTITION BY id
    WITHIN 90 s
    """
    lines = [f"PATTERN {pattern_to_text(query.pattern)}"]
    if query.where is not None:
        lines.append(f"WHERE {expression_to_text(query.where)}")
    if query.partition_by:
        lines.append(f"PARTITION BY {', '.join(map(attribute_text, query.partition_by))}")
    if query.strategy is not None:
        names = ", ".join(map(variable_text, query.strategy.variables))
        lines.append(f"STRATEGY {query.strategy.strategy.word}" + (f"({names})" if names else ""))
    if query.within is not None:
        lines.append(f"WITHIN {duration_text(query.within)}")
    if query.confidence is not None:
        lines.append(f"CONFIDENCE >= {query.confidence!r}")
    if query.group_by is not None:
        lines.append(f"GROUP BY {', '.join(map(_return_item, query.group_by)) or '()'}")
    lines += [f"GIVEN {given_to_text(each)}" for each in query.given]
    if query.returns:
        lines.append(f"RETURN {', '.join(map(_return_item, query.returns))}")
    return "\n".join(lines)


def given_to_text(clause: GivenClause) -> str:
    """What every world must satisfy, as it stands after GIVEN."""
    within = "" if clause.within is None else f" WITHIN {duration_text(clause.within)}"
    return f"{pattern_to_text(clause.pattern)}{within} IF {expression_to_text(clause.condition)}"


def pattern_to_text(pattern: Pattern) -> str:
    """A pattern as it stands after PATTERN."""
    negation = "!" if pattern.negated else ""
    if not isinstance(pattern, ComponentPattern):
        parts = ", ".join(map(pattern_to_text, pattern.parts))
        return f"{negation}{pattern.operator}({parts}){'+' if pattern.kleene else ''}"
    types = "|".join(map(type_text, pattern.event_types)) or "*"
    plus, members = quantifier_text(pattern), "[]" if pattern.kleene else ""
    variable = f" {variable_text(pattern.variable)}{members}" if pattern.variable is not None else ""
    return f"{negation}{'RUNNING ' if pattern.running else ''}{types}{plus}{variable}"


def quantifier_text(pattern: ComponentPattern) -> str:
    """How many events a component binds, as it stands after its type."""
    if pattern.quantifier is None:
        return "+" if pattern.kleene and not pattern.repeated else ""
    least, most = pattern.quantifier.least, pattern.quantifier.most
    if not pattern.quantifier.braces:
        return "*" if pattern.kleene else "?"
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


def expression_to_text(expression: Expression) -> str:
    """A condition or value."""
    return _text(expression)[0]


def duration_text(duration: Duration) -> str:
    """A duration in the largest unit that it is a whole number of."""
    if duration.microseconds is None:
        return f"{duration.ticks} ticks"
    for unit in ("day", "h", "min", "s", "ms", "us", "ns"):
        amount = duration.microseconds / MICROSECONDS[unit]
        if amount.denominator == 1 and (amount or unit == "us"):
            return f"{amount} {unit}"
    return f"{_decimal(duration.microseconds)} us"


def variable_text(name: str) -> str:
    """A variable, in backticks where it needs them."""
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in RESERVED
    return name if is_plain else _backticks(name)


def attribute_text(name: str) -> str:
    """An attribute as it stands in `[ ]`, in backticks where it needs them."""
    return name if _PLAIN.fullmatch(name) else _backticks(name)


def _return_item(item: ReturnItem) -> str:
    alias = f" AS {attribute_text(item.alias)}" if item.alias is not None else ""
    return expression_to_text(item.expression) + alias


def type_text(name: str) -> str:
    """An event type, in quotes where it needs them."""
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in RESERVED
    return name if is_plain else _quotes(name)


def _quotes(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _backticks(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _decimal(amount: Fraction) -> str:
    digits = 0
    while (amount * 10**digits).denominator != 1 and digits < 60:
        digits += 1
    whole, rest = divmod(int(amount * 10**digits), 10**digits)
    return f"{whole}.{rest:0{digits}d}" if digits else str(whole)


def _text(expression: Expression) -> tuple[str, int]:
    """The text of an expression and how tightly it binds."""
    match expression:
        case Constant() | Duration() | Attribute() | EventTime() | Variable() | MatchField() | Aggregate():
            return _atom(expression), _ATOM
        case Call():
            return _call(expression), _ATOM
        case Probability() | ReachedTick():
            return _of_worlds(expression), _ATOM
        case Unary("NOT", operand):
            return f"NOT {_inside(operand, _NOT)}", _NOT
        case Unary(sign, operand):
            return f"{sign}{_inside(operand, _ATOM)}", _SIGN
        case Binary(operator, left, right):
            binding = _BINDING.get(operator, _COMPARE)
            if binding == _COMPARE:
                return f"{_inside(left, _ADD)} {operator} {_inside(right, _ADD)}", _COMPARE
            # A percent sign after a number is dropped unless an operand visibly follows.
            least = _ATOM + 1 if operator == "%" and isinstance(right, MatchField) else binding + 1
            return f"{_inside(left, binding)} {operator} {_inside(right, least)}", binding
        case Between(operand, low, high, negated):
            bounds = f"{_inside(low, _ADD)} AND {_inside(high, _ADD)}"
            return f"{_inside(operand, _ADD)} {_not(negated)}BETWEEN {bounds}", _COMPARE
        case In(operand, choices, negated):
            listed = ", ".join(_inside(choice, _ADD) for choice in choices)
            return f"{_inside(operand, _ADD)} {_not(negated)}IN ({listed})", _COMPARE
        case Like(operand, pattern, negated):
            return f"{_inside(operand, _ADD)} {_not(negated)}LIKE {_quotes(pattern)}", _COMPARE
        case IsNull(operand, negated):
            return f"{_inside(operand, _ADD)} IS {_not(negated)}NULL", _COMPARE
        case Allen():
            return _relation(expression), _COMPARE


def _call(call: Call) -> str:
    arguments = [_text(each)[0] for each in call.arguments]
    if call.function == "*":
        return "".join(f"{each}.*" for each in arguments) or "*"
    return f"{call.function}({', '.join(arguments)})"


def _of_worlds(expression: Probability | ReachedTick) -> str:
    if isinstance(expression, Probability):
        return f"prob({_text(expression.condition)[0]})"
    return f"reached({expression.share!r})"


def _relation(expression: Allen) -> str:
    relation = "|".join(each.upper() for each in expression.relations)
    tolerance = f" TOLERANCE {duration_text(expression.tolerance)}" if expression.tolerance else ""
    by = f" BY {duration_text(expression.by)}" if expression.by else ""
    return f"{variable_text(expression.left)} {relation} {variable_text(expression.right)}{tolerance}{by}"


def members_read(aggregate: Aggregate) -> str:
    """The members that an aggregate is of, as they stand in the brackets."""
    if not aggregate.before:
        return ""
    return "1..i" if aggregate.own else "1..i-1"


def _inside(expression: Expression, least: int) -> str:
    text, binding = _text(expression)
    return text if binding >= least else f"({text})"


def _not(negated: bool) -> str:
    return "NOT " if negated else ""


def _atom(
    leaf: Constant | Duration | Attribute | EventTime | Variable | MatchField | Aggregate,
) -> str:
    match leaf:
        case Constant(str() as text):
            return _quotes(text)
        case Constant(None | bool() as value):
            return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
        case Constant(number):
            return repr(number)
        case Duration():
            return duration_text(leaf)
        case Variable(name):
            return variable_text(name)
        case MatchField(field):
            return field
        case EventTime(variable, which, member):
            return f"{variable_text(variable)}{_MEMBERS[member].format(leaf.back)}.{which}"
        case Attribute(variable, name, member):
            shown = _backticks(name) if name.lower() in EVENT_TIMES else attribute_text(name)
            read = f"{variable_text(variable)}{_MEMBERS[member].format(leaf.back)}.{shown}"
            return read if variable else variable_text(name)
        case Aggregate(function, variable, attribute):
            members = f"{variable_text(variable)}[{members_read(leaf)}]"
            word, _, distinct = function.partition(" ")
            read = members if attribute is None else f"{members}.{attribute_text(attribute)}"
            return f"{word}({distinct} {read})" if distinct else f"{word}({read})"
