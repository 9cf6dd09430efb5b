"""What separates the columns of a CSV file is told from its header."""

from __future__ import annotations

import io

import pytest

from cepctl.errors import EventSchemaError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import recognised_format
from cepctl.io.tabular.header import delimiter_of


def read(text: str, **options: object) -> tuple[list[dict[str, object]], ReadReport]:
    report = ReadReport()
    chosen = ReadOptions(**options)  # type: ignore[arg-type]
    reader = recognised_format(text.encode(), "f", mapped=bool(chosen.columns)).reader
    batches = list(reader.read(io.BytesIO(text.encode()), "f", chosen, report))
    return [row for batch in batches for row in batch.to_pylist()], report


@pytest.mark.parametrize("comma", [",", ";", "|"])
def test_values_may_be_separated_by_commas_semicolons_or_bars(comma: str) -> None:
    lines = ["event_type,lower,upper,x", 'A,1,5,"a,b"', "B,2,6,c", "C,1"]
    others = {",": ";|", ";": "|", "|": ";"}[comma]
    text = "\n".join(line.replace(",", comma) for line in lines) + f"\nD{comma}1{comma}1{comma}p{others}q\n"
    rows, report = read(text)
    values = [(row["event_type"], row["lower"], row["upper"], row["x"]) for row in rows]
    assert values == [("A", 1, 5, f"a{comma}b"), ("B", 2, 6, "c"), ("D", 1, 1, f"p{others}q")]
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (4, "the row does not have 4 fields like the header")
    ]


def test_the_columns_that_the_user_names_tell_what_separates_them() -> None:
    mapping = (("event_type", "what"), ("time", "a,b"))
    rows, _ = read("id,x,y,z;what;a,b\n1;A;2024-05-01\n", columns=mapping)
    assert [(row["event_type"], row["id,x,y,z"]) for row in rows] == [("A", "1")]
    assert delimiter_of("id;what;when", "csv", mapping) == ";"
    with pytest.raises(EventSchemaError, match="there is no column 'when'"):
        read("event;what;then\nA;B;C\n", columns=(("event_type", "what"), ("time", "when")))


def test_numbers_with_a_decimal_comma_stay_text_and_are_counted() -> None:
    rows, report = read("event_type;lower;upper;x;y\nA;1;5;3,14;1\nB;1;5;-2,5;1,2,3\nC;1;5;7;n\n")
    assert [row["x"] for row in rows] == ["3,14", "-2,5", "7"]
    assert +report.notes == {"numbers with a decimal comma, kept as text: {:,}": 2}


def test_a_column_without_a_name_is_called_by_its_place() -> None:
    rows, _ = read(",event_type,time,\n0,A,2024-05-01,x\n")
    assert [(row["event_type"], row["column1"], row["column4"]) for row in rows] == [("A", "0", "x")]


@pytest.mark.parametrize(("name", "between"), [("csv", ","), ("csv", ";"), ("tsv", "\t")])
@pytest.mark.parametrize("lines", [2, 60])
def test_a_table_each_row_of_which_has_a_value_of_several_lines_is_one(
    name: str, between: str, lines: int
) -> None:
    text = "\n".join(f"\tat a.B.c(B.java:{n})" for n in range(lines))
    row = between.join(["A", "2026-06-14T08:15:04Z", f'"failed:\n\n{text}"', "n7"])
    table = "\n".join([between.join(["event_type", "time", "message", "node"]), *[row] * 5]) + "\n"
    assert recognised_format(table.encode(), "f").name == name
    events, report = read(table)
    assert len(events) == report.records == 5
