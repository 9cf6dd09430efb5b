"""`cepctl formats` names every format that is read, and those that are not with what to do instead."""

from __future__ import annotations

import json

import pytest

from cepctl.cli import main
from cepctl.io.catalogue import all_formats
from cepctl.io.formats import known_formats


def test_every_reader_tells_what_its_events_are_and_how_far_their_times_are_trusted() -> None:
    read = [facts for facts in all_formats() if facts.supported]
    assert [facts.name for facts in read] == [known.name for known in known_formats()]
    assert all(facts.events and facts.uncertainty for facts in read)


def test_a_format_that_is_not_read_says_what_to_do_instead() -> None:
    others = [facts for facts in all_formats() if not facts.supported]
    assert others
    assert all(facts.remedy and not facts.events for facts in others)


def test_people_get_a_paragraph_for_each_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats"]) == 0
    shown = capsys.readouterr().out
    assert "xes  XES event log (IEEE 1849)\n    events: one type per activity" in shown
    assert "(not read)\n    instead: " in shown


def test_machines_get_an_array(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in told] == [facts.name for facts in all_formats()]
    assert next(entry for entry in told if entry["name"] == "ganglia")["supported"] is True


def test_an_example_of_a_format_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats", "--show", "cri"]) == 0
    assert capsys.readouterr().out.startswith("2026-06-14T08:15:04.123456789Z stdout F ready on :8080\n")


@pytest.mark.parametrize(
    ("name", "message"),
    [("sislog", "did you mean 'syslog'?"), ("mxml", "the format 'mxml' is not read; convert it to XES")],
)
def test_a_format_without_an_example_is_an_error(
    name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["formats", "--show", name]) == 3
    assert message in capsys.readouterr().err
