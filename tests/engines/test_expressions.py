"""Expressions over columns mean what the table of cases says, and so do those over single rows."""

from __future__ import annotations

import math

import polars as pl
import pytest

from cepctl.engines.worlds.expressions import Scene, evaluate
from cepctl.errors import QuerySemanticError
from cepctl.language.ast import Attribute, Constant, Duration, Expression
from cepctl.language.parser import parse_expression
from cepctl.language.traversal import rewrite
from cepctl.plan.polars_expressions import Leaf, compile_expression
from tests.engines.expression_cases import CASES, COLUMNS, Case, different

POLARS = {"integer": pl.Int64(), "float": pl.Float64(), "string": pl.String(), "boolean": pl.Boolean()}


def column(leaf: Leaf) -> pl.Expr:
    assert isinstance(leaf, Attribute)
    return pl.col(leaf.name)


def frame() -> pl.DataFrame:
    return pl.DataFrame([pl.Series(name, values, POLARS[kind]) for name, (kind, values) in COLUMNS.items()])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.expression)
def test_columns_give_what_the_table_says(case: Case) -> None:
    value = compile_expression(parse_expression(case.expression), column)
    found = frame().select(pl.col("i"), value.alias("value")).get_column("value").to_list()
    assert not different(case, found)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if str(2**63 - 1) not in case.expression],
    ids=lambda case: case.expression,
)
def test_the_evaluator_of_single_rows_agrees_on_ordinary_values(case: Case) -> None:
    def of_event(each: Expression) -> Expression:
        return Attribute("e", each.name) if isinstance(each, Attribute) else each

    expression = rewrite(parse_expression(case.expression), of_event)
    rows = list(zip(*(values for _, values in COLUMNS.values()), strict=True))
    ordinary = [
        0,
        1,
        4,
        6,
    ]  # the others hold nan, the ends of 64 bits, or signs that only some count as letters
    found = [
        evaluate(expression, Scene({"e": (dict(zip(COLUMNS, rows[i], strict=True)),)})) for i in ordinary
    ]
    expected = [case.values[i] for i in ordinary]
    assert found == pytest.approx(expected) if isinstance(expected[0], float) else found == expected


def test_the_table_notices_another_rule_for_remainders() -> None:
    case = next(case for case in CASES if case.expression == "i % 3")
    floored = frame().select(pl.col("i") % 3).to_series().to_list()
    assert different(case, floored)


def test_a_remainder_of_large_floats_is_exact() -> None:
    value = compile_expression(parse_expression("x % 3"), lambda leaf: pl.col("x"))
    assert pl.DataFrame({"x": [1e17]}).select(value).item() == math.fmod(1e17, 3)


def test_long_lists_of_choices_do_not_nest() -> None:
    text = f"x IN ({', '.join(map(str, range(5_000)))})"
    value = compile_expression(parse_expression(text), lambda leaf: pl.col("x"))
    assert pl.DataFrame({"x": [4_999, 5_000, None]}).select(value).to_series().to_list() == [
        True,
        False,
        None,
    ]


def test_a_duration_has_no_value_of_its_own() -> None:
    with pytest.raises(QuerySemanticError, match="Duration has no value"):
        compile_expression(Duration(None, 5), column)


def test_constants_alone_give_one_value() -> None:
    assert pl.select(compile_expression(Constant(5), column)).item() == 5
