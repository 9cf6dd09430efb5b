"""Templates as an attribute: where programs are the types, `template` says which kind of message it is."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import cepctl
from cepctl.cli import main
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.message_template import UNTEMPLATED, MessageTemplate
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_named
from cepctl.io.templates.survey import survey_of, templates_of

USERS = ("ann", "bob", "cid", "dee", "eve", "fay", "gus")
BEGINS = datetime(2026, 6, 14, 8, tzinfo=UTC)
SAID = [
    said
    for number, user in enumerate(USERS)
    for said in (
        ("sshd", f"Failed password for {user} from 10.0.0.{number} port {4000 + number} ssh2"),
        ("sshd", f"Accepted password for {user} from 10.0.0.{number} port {4000 + number} ssh2"),
        ("cron", "run-parts of the hour"),
    )
]


def stamp(number: int) -> str:
    return (BEGINS + timedelta(seconds=number)).isoformat()


def syslog(said: list[tuple[str, str]] = SAID) -> str:
    return "".join(
        f"{stamp(number)} web1 {program}[{number}]: {message}\n"
        for number, (program, message) in enumerate(said)
    )


def journal() -> str:
    entries = [
        {"__REALTIME_TIMESTAMP": str(1_781_417_705_000_000 + number), "SYSLOG_IDENTIFIER": program}
        | {"MESSAGE": message}
        for number, (program, message) in enumerate(SAID)
    ]
    return "".join(f"{json.dumps(entry)}\n" for entry in entries)


def cri() -> str:
    return "".join(f"{stamp(number)} stdout F {message}\n" for number, (_, message) in enumerate(SAID))


def docker() -> str:
    entries = [
        {"log": f"{message}\n", "stream": "stdout", "time": stamp(number)}
        for number, (_, message) in enumerate(SAID)
    ]
    return "".join(f"{json.dumps(entry)}\n" for entry in entries)


def compose() -> str:
    return "".join(f"web-1 | {stamp(number)} {message}\n" for number, (_, message) in enumerate(SAID))


def log4j() -> str:
    return "".join(
        f"2026-06-14 08:15:{number:02},978 INFO org.apache.hadoop.hdfs.server.Door: {message}\n"
        for number, (_, message) in enumerate(SAID)
    )


def read(name: str, text: str, **chosen: Any) -> tuple[list[dict[str, Any]], ReadReport]:
    """The events of a log whose templates are those of its own messages."""
    options = ReadOptions(**{"keep_unmatched": name == "log4j", **chosen})
    known, report = format_named(name), ReadReport()
    assert known.messages is not None
    if not options.templates:
        surveyed = survey_of(known.messages(io.BytesIO(text.encode()), "a.log", options))
        options = ReadOptions(
            **{"keep_unmatched": name == "log4j", **chosen, "templates": templates_of(surveyed).templates}
        )
    batches = known.read(io.BytesIO(text.encode()), "a.log", options, report)
    return [event for batch in batches for event in batch.to_pylist()], report


KINDS = {
    "syslog": syslog,
    "journal": journal,
    "cri": cri,
    "docker": docker,
    "compose": compose,
    "log4j": log4j,
}


@pytest.mark.parametrize("name", KINDS)
def test_the_template_is_an_attribute_and_what_varies_too(name: str) -> None:
    events, report = read(name, KINDS[name]())
    failed, accepted, hourly = events[3:6]
    assert failed["template"] == "Failed password for"
    assert (failed["ip"], failed["port"]) == ("10.0.0.1", "4001")
    assert accepted["template"] == "Accepted password for"
    assert accepted["v1"] == "bob"
    assert hourly["template"] == "run-parts of the hour"
    assert hourly["ip"] is None
    assert not report.notes[UNTEMPLATED]


def test_the_type_stays_the_program() -> None:
    assert [event["event_type"] for event in read("syslog", syslog())[0][:3]] == ["sshd", "sshd", "cron"]


@pytest.mark.parametrize("name", ["syslog", "journal"])
def test_messages_of_many_lines_are_those_that_are_read(name: str) -> None:
    text = KINDS[name]() * 600
    other = f"<38>1 {stamp(0)} web1 sshd 2210 - - {SAID[0][1]}\n"
    text += {"syslog": f"{other}{stamp(0)} web1: no tag\nno line of syslog\n", "journal": "no object\n"}[name]
    assert len(text) > 1 << 20, "so many that lines are read many at a time"
    known, options = format_named(name), ReadOptions()
    assert known.messages is not None
    surveyed = [known.messages(io.BytesIO(text.encode()), "a.log", options)]
    found = sorted(message for each in surveyed for batch in each for message in batch.to_pylist())
    batches = known.read(io.BytesIO(text.encode()), "a.log", options, ReadReport())
    read_ones = [message for batch in batches for message in batch.column("message").to_pylist()]
    assert found == sorted(message for message in read_ones if message is not None)


def test_what_varies_keeps_the_attributes_of_the_format() -> None:
    templates = (MessageTemplate("Left", ("left", "by", "<*>", "in", "<*>"), ("pid", "v2")),)
    (event,), _ = read("syslog", syslog([("init", "left by 17 in 3s")]), templates=templates)
    assert (event["pid"], event["pid_2"], event["v2"]) == ("0", "17", "3s")


def test_a_field_of_the_entry_itself_stays_what_it_is() -> None:
    entry = {
        "__REALTIME_TIMESTAMP": "1781417705000000",
        "SYSLOG_IDENTIFIER": "a",
        "MESSAGE": "port 7",
        "PORT": "x",
    }
    templates = (MessageTemplate("port", ("port", "<*>"), ("port",)),)
    text = f"{json.dumps(entry)}\n{json.dumps({**entry, 'PORT': None, 'TEMPLATE': 'own'})}\n"
    first, second = read("journal", text, templates=templates)[0]
    assert (first["port"], second["port"]) == ("x", "7")
    assert (second["template"], second["template_2"]) == ("own", "port")


def test_messages_that_fit_no_template_have_none_and_are_counted() -> None:
    templates = (MessageTemplate("Hourly", ("run-parts", "of", "the", "hour")),)
    events, report = read("syslog", syslog(), templates=templates)
    assert {event["template"] for event in events} == {None, "Hourly"}
    assert report.notes[UNTEMPLATED] == 2 * len(USERS)


def test_what_a_pattern_types_has_no_template() -> None:
    pattern = LogPattern("Failure", r"Failed password for (?P<who>\w+)", attributes=("who",))
    events, report = read("syslog", syslog(), patterns=(pattern,))
    assert {event["template"] for event in events if event["event_type"] == "Failure"} == {None}
    assert not report.notes[UNTEMPLATED]
    assert {event["template"] for event in events} == {
        None,
        "Accepted password for",
        "run-parts of the hour",
    }


def test_only_the_first_line_of_a_message_tells() -> None:
    entry = {"__REALTIME_TIMESTAMP": "1781417705000000", "SYSLOG_IDENTIFIER": "a", "MESSAGE": "it fell\nat 7"}
    (event,), _ = read("journal", json.dumps(entry))
    assert (event["template"], event["message"]) == ("it fell", "it fell\nat 7")


def test_a_query_asks_for_a_template(tmp_path: Path) -> None:
    log = tmp_path / "auth.log"
    log.write_text(syslog())
    query = """
        SEQ(sshd a, sshd b)
        WHERE a.template = 'Failed password for' AND b.template = 'Accepted password for' AND [ip]
        WITHIN 10 s
    """
    found = cepctl.match(query, log)
    assert len(found) == len(USERS)


def test_inspect_lists_templates_by_program_and_ingest_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, file = tmp_path / "auth.log", tmp_path / "templates.toml"
    log.write_text(syslog())
    assert main(["inspect", "--templates", str(log)]) == 0
    listed = capsys.readouterr().out
    file.write_text(listed.replace('Accepted password for"', 'Login"'))
    assert [line for line in listed.splitlines() if line.startswith(("#", "event_type"))] == [
        "# sshd: 7 events",
        'event_type = "Accepted password for"',
        "# sshd: 7 events",
        'event_type = "Failed password for"',
        "# cron: 7 events",
        'event_type = "run-parts of the hour"',
    ]
    again = cepctl.match("SEQ(sshd a) WHERE a.template = 'Login'", log, templates=file)
    assert len(again) == len(USERS)
