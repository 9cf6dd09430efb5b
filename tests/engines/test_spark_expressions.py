"""The JVM gives for every case of the table what Polars gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cepctl.engines.expressions import Leaf
from cepctl.engines.spark_expressions import spark_column
from cepctl.language.ast import Attribute
from cepctl.language.parser import parse_expression
from tests.engines.expression_cases import CASES, COLUMNS, different

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

SQL_TYPES = {"integer": "bigint", "float": "double", "string": "string", "boolean": "boolean"}


@pytest.mark.spark
def test_spark_gives_what_the_table_says(spark: SparkSession) -> None:
    from pyspark.sql import functions

    def column(leaf: Leaf) -> Column:
        assert isinstance(leaf, Attribute)
        return functions.col(leaf.name)

    rows = list(zip(range(8), *(values for _, values in COLUMNS.values()), strict=True))
    schema = "row int, " + ", ".join(f"{name} {SQL_TYPES[kind]}" for name, (kind, _) in COLUMNS.items())
    compiled = [
        spark_column(parse_expression(case.expression), column).alias(f"case{number}")
        for number, case in enumerate(CASES)
    ]
    found = spark.createDataFrame(rows, schema).select("row", *compiled).orderBy("row").collect()
    complaints = [different(case, [row[i + 1] for row in found]) for i, case in enumerate(CASES)]
    assert [each for each in complaints if each] == []
