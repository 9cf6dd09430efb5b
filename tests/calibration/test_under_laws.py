"""Calibration under a law of order: it states what the judge says, beside what it would without the law."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cepctl
from cepctl.calibration.result import Calibration, ShownRow

LAW = '[[law]]\nby = "key"\n[law.next."A"]\n"B" = 4\n[law.before."B"]\n"C" = 3\n'
QUERY = "PATTERN SEQ(A a, B b) WHERE [key]"


@pytest.fixture
def laws(tmp_path: Path) -> str:
    file = tmp_path / "laws.toml"
    file.write_text(LAW)
    return str(file)


def table_of(*keys: str, type_: type = str) -> pa.Table:
    """Events of keys, each a text of types at ticks 12, 13, ..., a blank being a tick without one."""
    rows = [
        {"event_type": kind, "event_id": f"{kind}{tick}-{key}", "lower": 12 + tick, "key": type_(key)}
        for key, text in enumerate(keys)
        for tick, kind in enumerate(text)
        if kind != " "
    ]
    return pa.Table.from_pylist([{**each, "upper": each["lower"]} for each in rows])


def shown(found: Calibration) -> dict[str, ShownRow]:
    return {" ".join(each.event_id for each in row.events): row for rows in found.shown for row in rows}


def judged(query: str, blurred: Path, laws: str | None) -> dict[str, float]:
    """What the worlds engine states on blurred events."""
    return {
        row["match"]: row["confidence"]
        for row in cepctl.match(query, str(blurred), engine="worlds", laws=laws)
    }


def test_rows_of_a_query_are_stated_under_the_law_and_held_to_the_same_without(
    laws: str, tmp_path: Path
) -> None:
    table, blurred = table_of("A B", "BA C", "AB"), tmp_path / "blurred"
    found = cepctl.calibrate(QUERY, table, coarsen="4 ms", by="key", laws=laws, blurred=blurred)
    lawful, lawless = (judged(QUERY, blurred, each) for each in (laws, None))
    assert lawful != lawless
    assert {ids: row.stated for ids, row in shown(found).items()} == pytest.approx(lawful)
    happened = {ids: row.happened for ids, row in shown(found).items()}
    assert found.scores.brier == pytest.approx(brier(lawful, happened))
    assert found.lawless is not None
    assert found.lawless.brier == pytest.approx(brier(lawless, happened))
    assert (found.law, found.beyond) == ("key", 0)


def brier(stated: dict[str, float], happened: dict[str, bool]) -> float:
    return sum((stated[row] - came) ** 2 for row, came in happened.items()) / len(happened)


def test_pairs_are_stated_under_the_law(laws: str, tmp_path: Path) -> None:
    table, blurred = table_of("A B", "BA C"), tmp_path / "blurred"
    found = cepctl.calibrate(None, table, coarsen="4 ms", by="key", laws=laws, blurred=blurred)
    pairs = shown(found)
    assert sorted(pairs) == ["A0-0 B2-0", "A1-1 B0-1", "A1-1 C3-1", "B0-1 C3-1"]
    query = "PATTERN SEQ(* a, * b)"
    lawful = judged(query, blurred, laws)
    assert {ids: row.stated for ids, row in pairs.items()} == pytest.approx(
        {ids: lawful[ids] for ids in pairs}
    )
    happened = {ids: row.happened for ids, row in pairs.items()}
    assert found.lawless is not None
    assert found.lawless.brier == pytest.approx(brier(judged(query, blurred, None), happened))


def test_groups_are_stated_under_the_law(laws: str, tmp_path: Path) -> None:
    table, blurred = table_of("ABB", "BBA", "AB"), tmp_path / "blurred"
    query = "PATTERN SEQ(A a, B b) WHERE [key] GROUP BY a.key"
    found = cepctl.calibrate(query, table, coarsen="4 ms", by="key", laws=laws, blurred=blurred)
    rows = cepctl.match(query, str(blurred), engine="worlds", laws=laws, lawless=True)
    assert len(rows) == 3
    happened = {"0": True, "1": False, "2": True}
    for scores, column in ((found.scores, "occurrence"), (found.lawless, "lawless")):
        assert scores is not None
        assert scores.brier == pytest.approx(brier({row["a.key"]: row[column] for row in rows}, happened))


def test_a_law_that_the_truth_follows_makes_scores_better(tmp_path: Path) -> None:
    """Where A is right before B in most keys, and what is read tells nothing of it."""
    file = tmp_path / "laws.toml"
    file.write_text('[[law]]\nby = "key"\n[law.before."A"]\n"B" = 4\n')
    draw = random.Random(7)
    table = table_of(*("AB" if draw.random() < 0.8 else "BA" for _ in range(400)))
    found = cepctl.calibrate(None, table, coarsen="4 ms", by="key", laws=file)
    scores, lawless = found.scores, found.lawless
    assert lawless is not None
    assert scores.brier is not None and lawless.brier is not None
    assert scores.brier < lawless.brier - 0.05
    assert scores.log_score is not None and lawless.log_score is not None
    assert scores.log_score < lawless.log_score - 0.1


def test_rows_of_keys_that_are_too_much_work_are_only_counted(tmp_path: Path) -> None:
    wide = "ABCDEFGHIJKLMNOPQR"
    laws = tmp_path / "laws.toml"
    factors = (
        f'[law.next."{one}"]\n"{other}" = {1.5 + at}' for at, (one, other) in enumerate(pairwise(wide))
    )
    laws.write_text("\n".join(['[[law]]\nby = "key"', *factors]))
    found = cepctl.calibrate(QUERY, table_of("AB", wide), coarsen="64 ms", by="key", laws=laws)
    assert (found.rows, found.open, found.beyond, found.certain) == (2, 1, 1, 0)
    found = cepctl.calibrate(None, table_of("AB", wide), coarsen="64 ms", by="key", laws=laws)
    assert (found.rows, found.open, found.beyond, found.certain) == (154, 1, 153, 0)


def test_what_touches_none_of_too_many_events_is_stated_under_the_law(tmp_path: Path) -> None:
    """An event that nothing touches parts a key: what comes after it is as open as in a key of its own."""
    wide, laws = "ABCDEFGHIJKLMNOPQR", tmp_path / "laws.toml"
    factors = (f'[law.next."{x}"]\n"{y}" = {1.5 + at}' for at, (x, y) in enumerate(pairwise(wide)))
    laws.write_text("\n".join(['[[law]]\nby = "key"', *factors]))
    key = f"{wide:60}Z{'':59}AB"
    for query, beyond in ((None, 153), (QUERY, 2)):
        found = cepctl.calibrate(query, table_of(key), coarsen="64 ms", by="key", laws=laws)
        assert (found.open, found.beyond) == (1, beyond)
        # Of two orders of A and B at one of 64 ticks each the one has 1.5 times the weight of the other.
        assert found.scores.brier == pytest.approx((1 - 1.5 / 2.5 * 63 / 64) ** 2)


def test_steps_that_the_law_does_not_name_are_one_to_it(laws: str) -> None:
    """Seventeen steps in one unit have 2^17 sets; where a law names three of them, 2^3 * 15."""
    found = cepctl.calibrate(None, table_of("ABCDEFGHIJKLMNOPQ"), coarsen="64 ms", by="key", laws=laws)
    assert (found.open, found.beyond) == (136, 0)


@pytest.mark.parametrize(
    ("text", "asked", "said"),
    [
        (LAW, {"by": "event_id"}, "name by=key"),
        (LAW, {"by": "key", "step": "key"}, "name step event_type"),
        (LAW + '[[law]]\nby = "m"\n[law.next."A"]\n"B" = 2', {"by": "key"}, "states 2"),
        ("", {"by": "key"}, "states no law of order"),
    ],
)
def test_pairs_are_of_the_keys_and_steps_of_the_law(
    text: str, asked: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "laws.toml"
    file.write_text(text)
    with pytest.raises(cepctl.CepctlError, match=said):
        cepctl.calibrate(None, table_of("AB"), coarsen="4 ms", laws=file, **asked)


@pytest.mark.parametrize("query", [None, QUERY])
def test_clocks_under_a_law_are_refused_by_name(query: str | None, laws: str) -> None:
    with pytest.raises(cepctl.CepctlError, match="shared clocks under the law of order of each key"):
        cepctl.calibrate(query, table_of("AB"), clock="by=key 2 ms", by="key", laws=laws)


def test_a_step_that_means_the_begin_of_a_key_is_refused(laws: str) -> None:
    with pytest.raises(
        cepctl.CepctlError, match=r"has the step '\^', by which a law of order means the begin"
    ):
        cepctl.calibrate(None, table_of("A^"), coarsen="4 ms", by="key", laws=laws)
