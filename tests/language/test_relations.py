"""What the parser says of relations between events that it cannot take."""

from __future__ import annotations

import pytest

from cepctl.errors import QuerySyntaxError
from cepctl.language.parser import parse


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SEQ(A a, B b) WHERE a OVERLAP b", "expected a relation between two events; did you mean"),
        ("A a OVERLAPZ B b", "expected a relation between two components; did you mean 'overlaps'?"),
        ("SEQ(A a, B b DURNG C)", "found 'DURNG', expected ',' or ')'"),
        ("SEQ(A a, B b FINISH C c)", "between two components; did you mean 'finishes'?"),
        ("A a OVERLAPZ|MEETS * b", "between two components; did you mean 'overlaps'?"),
        ("A a OVERLAPS|DURNG B b", "found 'DURNG', expected a relation: BEFORE, AFTER"),
        ("A a STRATEGI any b", "expected the next clause"),
        ("A a MEETS B b BY 3 s", "BY is of INTERSECTS"),
        ("A a INTERSECTS B b TOLERANCE 3 s", "INTERSECTS takes BY"),
        ("A a MEETS|MEETS B b", "MEETS stands here twice"),
        ("A a MEETS|INTERSECTS B b", "INTERSECTS is a union of relations already"),
        ("A a MEETS B b TOLERANCE 3", "a duration needs a unit"),
        ("ISEQ(A a, B b) WHERE a.start < b.start < a.end", "comparisons do not chain"),
    ],
)
def test_a_mistake_is_told_with_what_is_meant(query: str, told: str) -> None:
    with pytest.raises(QuerySyntaxError) as problem:
        parse(f"PATTERN {query}")
    assert told in str(problem.value)
