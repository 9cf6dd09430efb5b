"""Recorded clocks in `inspect`, `explain`, `report` and a notebook: what was recorded, and in which file."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import cepctl
from tests.calls import called

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "answer.schema.json").read_text(encoding="utf-8"))
HEAD = "host,from,to,ahead,ahead_to,low,high,sd,epoch,segment,jump,source,line\n"
ROWS = (
    "node07,1772442012000000000,1772442076000000000,12600000,-760000,-34000000,22160000,,2,3,,tracking.log,5\n"
    "node07,1772442076000000000,1772442141000000000,-760000,2980000,-17180000,14960000,,2,4,,tracking.log,6\n"
    "node08,1772442000000000000,1772449200000000000,0,0,-400,400,,1,1,,,\n"
)
LOG = (
    "event_id,event_type,time,node\n"
    "a,A,2026-03-02T09:00:44.000Z,node07\n"
    "b,B,2026-03-02T09:01:50.500Z,node07\n"
    "c,C,2026-03-02T09:02:00.000Z,node08\n"
    "d,D,2026-03-02T09:03:00.000Z,\n"
    "e,D,2026-03-02T09:03:00.000Z,node09\n"
    "f,D,2026-03-03T09:03:00.000Z,node08\n"
    "g,D,2026-03-03T09:04:00.000Z,node08\n"
)
RULE = 'clock = { by = "node", from = "clocks.csv", residual = "epoch" }\n'
QUERY = "PATTERN SEQ(A a, B b, C c, D d)"
GONE = "clocks.csv is not there any more, so what it recorded of these clocks is not shown"
CHANGED = "clocks.csv has changed since these events were read, so what it records now is not shown"
UNFIT = [
    "1 event not on such a clock: without 'node', which tells their clock",
    "1 event not on such a clock: with a 'node' that clocks.csv does not have",
    "2 events not on such a clock: at times of which clocks.csv has nothing of their 'node'",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    monkeypatch.delenv("COLUMNS", raising=False)
    Path("clocks.csv").write_text(HEAD + ROWS)
    Path("log.csv").write_text(LOG)
    Path("model.toml").write_text(f'time_unit = "1 ms"\n[[rule]]\n{RULE}')
    called(capsys, "ingest", "log.csv", "-o", "events", "--uncertainty", "model.toml")


def document_in(page: str) -> dict[str, Any]:
    data = re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert data is not None
    found: dict[str, Any] = json.loads(data[1])
    return found


def reported(capsys: pytest.CaptureFixture[str], query: str = QUERY) -> dict[str, Any]:
    called(capsys, "report", query, "events", "-o", "page.html")
    return document_in(Path("page.html").read_text(encoding="utf-8"))


def in_use(capsys: pytest.CaptureFixture[str], *inputs: str) -> dict[str, Any]:
    """What the JSON of an inspection has of recorded clocks."""
    out, _ = called(capsys, "inspect", *inputs, "--json")
    Draft202012Validator(SCHEMA).validate(json.loads(out))
    found: dict[str, Any] = json.loads(out)["answer"]["recorded_clocks"]
    return found


@pytest.mark.parametrize("more", [(), ("--full",)])
def test_inspect_names_the_table_its_hosts_with_their_worst_bounds_and_who_has_no_clock(
    more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = called(capsys, "inspect", "events", *more)
    _, head, section = out.partition("Clocks as recorded in clocks.csv, which is unchanged\n")
    assert head
    assert section.split("\n\n")[0].splitlines() == [
        "host    events  ahead          off by at most  recorded in",
        "node07       2  1.2 to 5.9 ms         28.1 ms  tracking.log line 5",
        "node08       1  0 ns                   400 ns",
    ]
    assert section.split("\n\n")[1].rstrip().splitlines() == UNFIT


def test_inspect_has_it_exactly_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    found = in_use(capsys, "events")
    (table,) = found["tables"]
    assert (table["file"], table["fate"], table["lost"]) == ("clocks.csv", "unchanged", None)
    # 1772442110.5 s is 34.5 s of the 65 s in which the estimate goes from -0.76 to 2.98 ms.
    assert table["hosts"][0] == {
        "host": "node07",
        "events": 2,
        "ahead_least_nanoseconds": -760_000 + 3_740_000 * 345 // 650,
        "ahead_most_nanoseconds": 5_920_000,
        "worst_nanoseconds": 28_080_000,
        "source": "tracking.log",
        "line": 5,
    }
    assert [each["events"] for each in found["unfit"]] == [1, 1, 2]
    assert found["untold"] == 0


def test_who_was_not_meant_by_the_rule_is_not_counted_as_without_a_clock(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for rule in (f"event_type = 'C'\n{RULE}", f"where = \"node = 'node08'\"\n{RULE}"):
        Path("model.toml").write_text(f'time_unit = "1 ms"\n[[rule]]\n{rule}')
        called(capsys, "ingest", "log.csv", "-o", "events", "--uncertainty", "model.toml", "--overwrite")
        found = in_use(capsys, "events")
        assert [each["host"] for each in found["tables"][0]["hosts"]] == ["node08"]
        assert sum(each["events"] for each in found["unfit"]) == (2 if "node08" in rule else 0)


def test_tables_are_found_where_the_model_names_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "models" / "made").mkdir(parents=True)
    Path("clocks.csv").rename("models/made/clocks.csv")
    for name in ("made/clocks.csv", f"{tmp_path}/models/made/clocks.csv"):
        Path("models/model.toml").write_text(f"[[rule]]\n{RULE.replace('clocks.csv', name)}")
        called(
            capsys, "ingest", "log.csv", "-o", "events", "--uncertainty", "models/model.toml", "--overwrite"
        )
        found = in_use(capsys, "events")
        assert [len(each["hosts"]) for each in found["tables"]] == [2]
        assert [each["events"] for each in found["unfit"]] == [1, 1, 2]


@pytest.mark.parametrize(("changes", "lost", "fate"), [(True, CHANGED, "changed"), (False, GONE, "missing")])
def test_inspect_says_what_became_of_a_table(
    changes: bool, lost: str, fate: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("clocks.csv").unlink()
    if changes:
        Path("clocks.csv").write_text(HEAD + ROWS.replace("12600000", "12600001"))
    out, _ = called(capsys, "inspect", "events")
    assert out.partition("Clocks as recorded")[1] == ""
    assert lost in out
    assert "3 events on recorded clocks of which no table tells any more" in out
    found = in_use(capsys, "events")
    assert [(each["fate"], each["hosts"]) for each in found["tables"]] == [(fate, [])]
    assert (found["untold"], found["unfit"]) == (3, None)


def test_several_datasets_have_their_tables_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.csv").write_text(HEAD + ROWS.replace(",2,3,,", ",7,3,,").replace(",2,4,,", ",7,4,,"))
    Path("model.toml").write_text(f"[[rule]]\n{RULE.replace('clocks.csv', 'other.csv')}")
    Path("more.csv").write_text(LOG.replace("\n", "\nx").removesuffix("x"))
    called(capsys, "ingest", "more.csv", "-o", "more", "--uncertainty", "model.toml")
    found = in_use(capsys, "events", "more")
    assert [each["file"] for each in found["tables"]] == ["clocks.csv", "other.csv"]
    assert [[host["events"] for host in each["hosts"]] for each in found["tables"]] == [[2, 1], [2, 1]]
    assert len(found["unfit"]) == 6


def test_inspect_of_events_without_recorded_clocks_says_nothing_of_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, _ = called(capsys, "inspect", "log.csv")
    assert "ecorded" not in out
    out, _ = called(capsys, "inspect", "log.csv", "--json")
    assert "recorded_clocks" not in json.loads(out)["answer"]


def test_explain_names_the_files_that_offsets_come_from(capsys: pytest.CaptureFixture[str]) -> None:
    line = "Records     offsets of clocks come from what hosts recorded of them: clocks.csv"
    out, _ = called(capsys, "explain", QUERY, "events")
    assert line in out.splitlines()
    assert called(capsys, "explain", QUERY, "log.csv")[0].find("Records") == -1
    out, _ = called(capsys, "explain", QUERY, "events", "--json")
    assert json.loads(out)["answer"]["records"] == ["clocks.csv"]
    out, _ = called(capsys, "explain", QUERY, "log.csv", "--json")
    assert "records" not in json.loads(out)["answer"]


def test_a_page_has_what_was_recorded_of_each_event(capsys: pytest.CaptureFixture[str]) -> None:
    found = reported(capsys)
    told = dict(zip((event[0] for event in found["events"]), found["recorded"], strict=True))
    assert told == {
        "a": "node07 at 09:00:44: 5.9 ms ahead, -28.1 to 28.1 ms, tracking.log line 5",
        "b": "node07 at 09:01:50.500: 1.2 ms ahead, -16 to 16.2 ms, tracking.log line 6",
        "c": "node08 at 09:02:00: 0 ns ahead, -400 to 400 ns",
        **dict.fromkeys("defg"),
    }


def test_a_page_of_keys_has_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    found = reported(capsys, "PATTERN SEQ(A a, B b) GROUP BY a.node")
    assert [text[:18] for text in found["recorded"]] == ["node07 at 09:00:44", "node07 at 09:01:50"]


def test_a_page_says_what_became_of_a_table_where_an_event_needs_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("clocks.csv").unlink()
    found = reported(capsys)
    assert found["recorded"] == [GONE, GONE, GONE, None, None, None, None]


def test_a_page_of_events_without_recorded_clocks_says_nothing_of_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "recorded" not in reported(capsys, "PATTERN SEQ(D d, D e)")


def test_a_notebook_shows_the_same_page() -> None:
    shown = cepctl.match(QUERY, "events")._repr_html_()
    frame = re.search(r'srcdoc="([^"]*)"', shown)
    assert frame is not None
    recorded = document_in(unescape(frame[1]))["recorded"]
    assert recorded[0] == "node07 at 09:00:44: 5.9 ms ahead, -28.1 to 28.1 ms, tracking.log line 5"
