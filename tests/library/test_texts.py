"""A column of text that is compared as one of numbers: which of its values are none."""

from __future__ import annotations

from pathlib import Path

import pytest

import cepctl
from cepctl import CepctlWarning
from cepctl.errors import QuerySemanticError

ROWS = "event_type,event_id,time,load\nA,a1,2024-01-01,12\nA,a2,2024-01-02,n/a\nA,a3,2024-01-03, 97 \n"


def test_the_values_that_are_no_numbers_are_named_with_their_events(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(ROWS)
    with pytest.raises(QuerySemanticError, match=r"they cannot be compared") as told:
        cepctl.match("PATTERN A a WHERE a.load > 95", tmp_path / "log.csv")
    assert str(told.value).splitlines()[-1] == (
        "'load' is text because 1 of its 3 values are no numbers: 'n/a' (a2); leave these empty in the log, "
        "and it is a column of numbers"
    )


def test_a_column_without_a_value_is_said_to_have_none(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("event_type,time,load\nA,2024-01-01,\n")
    with pytest.raises(QuerySemanticError, match="no event has a value of 'load', so nothing says whether"):
        cepctl.match("PATTERN A a WHERE a.load > 95", tmp_path / "log.csv")


def test_two_columns_of_text_that_hold_numbers_are_said_to_be_in_the_order_of_texts(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(ROWS)
    with pytest.warns(
        CepctlWarning, match="a.load < b.load compares texts, of which '70' comes before '9'"
    ) as told:
        cepctl.match("PATTERN SEQ(A a, A b) WHERE a.load < b.load", tmp_path / "log.csv")
    (said,) = (str(each.message) for each in told if "compares texts" in str(each.message))
    assert "'load' is text because 1 of its 3 values are no numbers: 'n/a' (a2)" in said


@pytest.mark.parametrize("condition", ["a.load = b.load", "a.name < b.name", "a.name < b.load"])
def test_other_comparisons_of_texts_are_meant_as_such(
    condition: str, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    names = iter(("name", "x", "9", "y"))
    log = "".join(f"{line},{next(names)}\n" for line in ROWS.splitlines())
    (tmp_path / "log.csv").write_text(log)
    cepctl.match(f"PATTERN SEQ(A a, A b) WHERE {condition}", tmp_path / "log.csv")
    assert not [each for each in recwarn if "compares texts" in str(each.message)]


def test_other_mistakes_are_told_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(ROWS)
    with pytest.raises(QuerySemanticError) as told:
        cepctl.match("PATTERN A a WHERE a.event_id = 5 AND a.lod > 95", tmp_path / "log.csv")
    assert "'load'" not in str(told.value).splitlines()[-1]
