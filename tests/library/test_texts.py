"""A column of text that is compared with a number: which of its values are none."""

from __future__ import annotations

from pathlib import Path

import pytest

import cepctl
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


def test_other_mistakes_are_told_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(ROWS)
    with pytest.raises(QuerySemanticError) as told:
        cepctl.match("PATTERN A a WHERE a.event_id = 5 AND a.lod > 95", tmp_path / "log.csv")
    assert "'load'" not in str(told.value).splitlines()[-1]
