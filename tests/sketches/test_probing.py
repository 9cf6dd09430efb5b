"""What rows a probe has: examples by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.plan.event_schema import EventSchema
from cepctl.schema import MILLISECOND
from cepctl.sketches import spans
from cepctl.sketches.listing import Indexed
from cepctl.sketches.probing import probe_rows
from cepctl.sketches.skipping import row_groups_to_read
from tests.plans import ATTRIBUTES, Event, event_table, plan_of
from tests.sketched_tables import archive_of, sketch_of_table

EVENTS = [
    Event("a1", "A", 10, 12, x=1, k="p"),
    Event("b1", "B", 14, 15, x=5, k="q"),
    Event("a2", "A", 100, 101, x=1, k="p"),
    Event("b2", "B", 103, 104, x=9, k="p"),
    Event("c1", "C", 500, 500, k="p"),
    Event("b3", "B", 900, 900, x=None, k=None),
]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(spans, "SPAN_EVENTS", 1)
    sketch_of_table(tmp_path / "events.sketch", event_table(EVENTS), Indexed(("k", "x"), ("x",)), 2)
    return tmp_path / "events.sketch"


def rows(folder: Path, query: str) -> list[tuple[object, ...]]:
    from cepctl.sketches.reading import Sketch

    archive = archive_of([Sketch.at(folder)], EventSchema(ATTRIBUTES, MILLISECOND))
    return [tuple(row.values())[:3] for row in probe_rows(plan_of(query), archive).to_pylist()]


def groups(folder: Path, query: str) -> list[tuple[int, int]]:
    from cepctl.sketches.reading import Sketch

    archive = archive_of([Sketch.at(folder)], EventSchema(ATTRIBUTES, MILLISECOND))
    return sorted(row_groups_to_read(plan_of(query), archive).groups[0])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SEQ(A a, B b) WITHIN 10 ticks", [(10, 15, 1), (100, 104, 1)]),
        ("SEQ(A a, B b) WITHIN 3 ticks", [(12, 14, 1), (101, 103, 1)]),
        ("SEQ(A a, B b)", [(10, 900, 5)]),
        ("SEQ(A a, B b) WHERE [k] WITHIN 10 ticks", [(100, 104, 1)]),
        ("SEQ(A a, B b) WHERE a.k = b.k WITHIN 10 ticks", [(100, 104, 1)]),
        ("SEQ(A a, B b) WHERE b.x > 6 WITHIN 10 ticks", [(100, 104, 1)]),
        ("SEQ(A a, B b) WHERE b.x = 5 OR b.x IN (77, 78) WITHIN 10 ticks", [(10, 15, 1)]),
        ("SEQ(A a, B b) WHERE b.x BETWEEN 6 AND 8 WITHIN 10 ticks", []),
        ("SEQ(B b, A a) WITHIN 10 ticks", []),
        ("AND(B b, A a) WITHIN 10 ticks", [(10, 15, 1), (100, 104, 1)]),
        ("SEQ(A a, B+ b[]) WITHIN 10 ticks", [(10, 15, None), (100, 104, None)]),
        ("SEQ(A a, !C c, B b) WITHIN 10 ticks", [(10, 15, 1), (100, 104, 1)]),
        ("SEQ(A a, B b) WHERE b.time - a.time >= 5 ticks WITHIN 10 ticks", [(10, 15, 1)]),
        ("OR(SEQ(A a, B b), C c) WITHIN 10 ticks", [(10, 15, 1), (100, 104, 1), (500, 500, 1)]),
        ("SEQ(* x, C c) WHERE c.time >= '1970-01-01T00:00:00.501Z'", []),
        ("C c", [(500, 500, 1)]),
    ],
)
def test_rows_of_a_probe(asked: Path, query: str, expected: list[tuple[object, ...]]) -> None:
    assert rows(asked, f"PATTERN {query}") == expected


def test_row_groups_without_an_event_of_a_possible_match_are_not_read(asked: Path) -> None:
    assert groups(asked, "PATTERN SEQ(A a, B b) WITHIN 10 ticks") == [(0, 0), (0, 1)]
    assert groups(asked, "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 10 ticks") == [(0, 1)]
    assert groups(asked, "PATTERN SEQ(C a, B b) WITHIN 10 ticks") == []


def test_what_can_decide_is_read_as_far_as_within_reaches(asked: Path) -> None:
    assert groups(asked, "PATTERN SEQ(A a, B b, !C c) WHERE [k] WITHIN 100 ticks") == [(0, 0), (0, 1)]
    assert groups(asked, "PATTERN SEQ(A a, B b, !C c) WHERE [k] WITHIN 400 ticks") == [(0, 0), (0, 1), (1, 0)]


def test_about_is_what_chance_would_give(asked: Path) -> None:
    from cepctl.sketches.reading import Sketch

    archive = archive_of([Sketch.at(asked)], EventSchema(ATTRIBUTES, MILLISECOND))
    found = probe_rows(plan_of("PATTERN SEQ(A a, B b) WITHIN 10 ticks"), archive).column("about").to_pylist()
    assert found == [
        0.909,
        1.0,
    ]  # one B in the 11 or 10 ticks in which it can follow an A, ten of which count
    assert probe_rows(plan_of("PATTERN SEQ(A a, B b)"), archive).column("about").to_pylist() == [None]


def test_what_is_given_needs_all_events_and_changes_no_row_of_a_probe(asked: Path) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE b.x = 5 WITHIN 10 ticks"
    given = f"{query} GIVEN SEQ(A p, C q) IF p.k = q.k"
    assert len(groups(asked, query)) < len(groups(asked, given)) == 3
    assert rows(asked, given) == rows(asked, query) == [(10, 15, 1)]
