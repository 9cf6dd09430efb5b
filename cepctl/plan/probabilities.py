"""`prob(...)` and `reached(...)` in a query, understood once for the whole plan.

The condition of `prob` becomes cases of difference constraints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, product

from cepctl.language.ast import (
    COMPARISONS,
    Allen,
    Binary,
    Call,
    Constant,
    Expression,
    Probability,
    Query,
    ReachedTick,
)
from cepctl.language.messages import QueryProblem
from cepctl.language.traversal import conjuncts, rewrite, variables_read, walk
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.plan.problems import QueryProblems
from cepctl.plan.relations import related
from cepctl.plan.timings import Difference, differences, is_timing
from cepctl.schema import TimeUnit

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def with_probabilities(query: Query, unit: TimeUnit, problems: QueryProblems) -> Query:
    """The query with every call understood, and slack where `prob(...)` is compared with a number."""

    def change(each: Expression) -> Expression:
        if isinstance(each, Call) and each.function == "prob" and len(each.arguments) == 1:
            return _probability(each, unit, problems)
        if isinstance(each, Call) and each.function == "reached" and len(each.arguments) == 1:
            return _reached(each, problems)
        return _with_slack(each) if isinstance(each, Binary) else each

    where = None if query.where is None else rewrite(query.where, change)
    returns = tuple(replace(item, expression=rewrite(item.expression, change)) for item in query.returns)
    return replace(query, where=where, returns=returns)


def _probability(call: Call, unit: TimeUnit, problems: QueryProblems) -> Expression:
    condition = call.arguments[0]
    if any(isinstance(each, Probability) for each in walk(condition)):
        problems.refuse(call.span, "prob(...) inside prob(...)")
        return Constant(None, call.span)
    choices: list[tuple[tuple[Difference, ...], ...]] = []
    for each in conjuncts(condition):
        try:
            choices += _cases(each, unit)
        except QueryProblem as problem:
            problems.error(problem.problem.span, problem.problem.message)
            return Constant(None, call.span)
    cases = tuple(tuple(chain.from_iterable(chosen)) for chosen in product(*choices))
    variables = tuple(dict.fromkeys(name.lower() for name in variables_read(condition)))
    return Probability(condition, variables, cases, call.span)


def _reached(call: Call, problems: QueryProblems) -> Expression:
    share = call.arguments[0]
    value = share.value if isinstance(share, Constant) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        problems.error(
            call.span, "reached(...) takes a probability above 0 and at most 1, as in reached(0.9)"
        )
        return Constant(None, call.span)
    return ReachedTick(float(value), call.span)


def _cases(condition: Expression, unit: TimeUnit) -> Iterator[tuple[tuple[Difference, ...], ...]]:
    """Choices that one conjunct leaves: of each, one case holds."""
    if isinstance(condition, Allen):
        yield related(condition, unit)
    elif is_timing(condition):
        for each in differences(condition, unit):
            if each.not_equal:
                less = replace(each, bound=each.bound - 1, not_equal=False)
                more = Difference(
                    *(each.right, each.left, -each.bound - 1, False, each.right_end, each.left_end)
                )
                yield (less,), (more,)
            else:
                yield ((each,),)
    else:
        raise QueryProblem(
            condition.span,
            "prob(...) takes comparisons of times and relations, joined by AND, "
            "as in prob(b.time - a.time <= 5 s)",
        )


def _with_slack(compared: Binary) -> Expression:
    """A probability is compared as confidences are: rounding decides nothing."""
    operator, left, right = compared.operator, compared.left, compared.right
    if operator not in COMPARISONS or operator not in _MIRRORED:
        return compared
    if isinstance(left, Probability) and isinstance(right, Constant):
        return replace(compared, right=_moved(right, operator))
    if isinstance(right, Probability) and isinstance(left, Constant):
        return replace(compared, left=_moved(left, _MIRRORED[operator]))
    return compared


def _moved(number: Constant, operator: str) -> Constant:
    if isinstance(number.value, bool) or not isinstance(number.value, int | float):
        return number
    slack = -CONFIDENCE_SLACK if operator in (">=", "<") else CONFIDENCE_SLACK
    return replace(number, value=number.value + slack)
