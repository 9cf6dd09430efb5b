"""Completion inside of a query: types and attributes of the dataset that stands later on the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.cli.options.query_text import completed_query


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("completion")
    (folder / "log.csv").write_text(
        "event_type,time,task_id,tag,load:one\nTaskStart,1,1,x,2\nTaskEnd,2,1,x,2\nJob end,3,1,,\n"
    )
    arguments = ["ingest", str(folder / "log.csv"), "-o", str(folder / "events"), "--runner", "local", "-q"]
    assert main(arguments) == 0
    return str(folder / "events")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("PATTERN SEQ(Task", ["PATTERN SEQ(TaskEnd", "PATTERN SEQ(TaskStart"]),
        ("PATTERN SEQ(TaskStart a, J", ["PATTERN SEQ(TaskStart a, 'Job end'"]),
        ("PATTERN SEQ(A a) WHERE a.ta", ["PATTERN SEQ(A a) WHERE a.tag", "PATTERN SEQ(A a) WHERE a.task_id"]),
        ("PATTERN SEQ(A a) WHERE a.lo", ["PATTERN SEQ(A a) WHERE a.`load:one`"]),
        ("PATTERN SEQ(A a) WHERE [ta", ["PATTERN SEQ(A a) WHERE [tag", "PATTERN SEQ(A a) WHERE [task_id"]),
        ("PATTERN SEQ(A a) WHERE [tag, task", ["PATTERN SEQ(A a) WHERE [tag, task_id"]),
        ("PATTERN SEQ(Nothing", []),
    ],
)
def test_the_last_word_of_a_query_is_completed(typed: str, offered: list[str], dataset: str) -> None:
    found = completed_query(typed, ["cepctl", "match", typed, "nowhere", dataset])
    assert [each.value for each in found] == offered


def test_a_shell_is_asked_with_its_whole_line(
    dataset: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_CEPCTL_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"cepctl match 'PATTERN SEQ(TaskS' {dataset}")
    monkeypatch.setenv("COMP_CWORD", "2")
    main([])
    assert capsys.readouterr().out == "plain,PATTERN SEQ(TaskStart\n"


def test_a_line_without_a_dataset_offers_nothing(tmp_path: Path) -> None:
    assert completed_query("PATTERN SEQ(T", ["cepctl", "match", str(tmp_path)]) == []
