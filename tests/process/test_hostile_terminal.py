"""Logs do not command a terminal: their control characters are shown there, and untouched in a pipe."""

from __future__ import annotations

import io
import re
import subprocess
from pathlib import Path

import pytest

from cepctl.process.terminal import Guard, unguarded, visible
from cepctl.render.console import SafeConsole
from tests.cli.test_contract import PROGRAM
from tests.cli.test_terminal import on_a_terminal

ATTACKS = {
    "clear": "\x1b[2J",
    "title": "\x1b]0;owned\x07",
    "colour": "\x1b[31m",
    "c1": "\x9b2J\x9d0;owned\x9c",
    "back": "x\b\by",
    "return": "x\ry",
    "direction": "\u202eevil\u2066",
}
OURS = re.compile(r"\x1b\[[0-9;]*m|\r\x1b\[K|\r\n")
NEVER = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
EVIL = "".join(ATTACKS.values())
QUERY = "PATTERN SEQ(A a, B b) WHERE a.x != 'z' WITHIN 9 ticks RETURN a.x AS x"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log whose ids, types, names, values, bad records and file name are hostile."""
    folder = tmp_path_factory.mktemp("place")
    value = EVIL.replace("\r", "")
    log = f"event_id,event_type,lower,upper,x,{value}\na{value},A,1,2,{value},1\nb{value},B,4,5,{value},2\n"
    log += f"c,C{value},4,5,1,2\nbad{value},A,9,2,1,1\n"
    (folder / f"{value.replace('/', '')}.csv").write_text(log, encoding="utf-8")
    arguments = ["ingest", ".", "-o", "events", "--runner", "local", "--max-errors", "9"]
    subprocess.run([PROGRAM, *arguments], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def program(programs: Path) -> Path:
    """One that has started up already, as these are many commands."""
    return programs / "cepctl"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["match", QUERY, "events"], id="table"),
        pytest.param(["match", QUERY, "events", "--format", "csv"], id="csv"),
        pytest.param(["match", QUERY, "events", "--format", "jsonl"], id="jsonl"),
        pytest.param(["match", f"{QUERY} CONFIDENCE >= 0.99", "events", "--why-not"], id="why not"),
        pytest.param(["match", f"PATTERN SEQ(A a, '{EVIL}' b)", "events"], id="query"),
        pytest.param(["show", QUERY, "events", "--match", f"a{EVIL} b{EVIL}".replace("\r", "")], id="show"),
        pytest.param(["inspect", "events"], id="inspect"),
        pytest.param(["inspect", f"no{EVIL}such"], id="file name"),
        pytest.param(["explain", QUERY, "events"], id="explain"),
        pytest.param(["formats"], id="formats"),
        pytest.param(["ingest", ".", "-o", "again", "--runner", "local", "--max-errors", "0"], id="rejects"),
        pytest.param([f"no{EVIL}command"], id="command"),
    ],
)
def test_no_control_character_of_a_log_reaches_a_terminal(
    place: Path, program: Path, arguments: list[str]
) -> None:
    if arguments[0] == "match":
        arguments = [*arguments, "--runner", "local"]
    _, shown = on_a_terminal(arguments, place, program=program)
    assert shown
    assert "Traceback" not in shown
    # The colour is not among what we draw ourselves.
    assert "\x1b[31m" not in shown
    assert NEVER.search(OURS.sub("", shown)) is None
    if arguments[0] not in {"formats", "explain"}:
        assert r"\x1b" in shown or r"\u001b" in shown


def test_a_pipe_gets_every_character(place: Path) -> None:
    arguments = [PROGRAM, "match", QUERY, "events", "--runner", "local"]
    told = subprocess.run(arguments, cwd=place, capture_output=True, check=True).stdout.decode()
    # Colours of a terminal are no part of what a log says.
    assert EVIL.replace("\r", "").replace("\x1b[31m", "") in told


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_guarded_stream_shows_what_it_is_told(attack: str) -> None:
    screen = Screen()
    guard = Guard(screen)
    guard.write(f"{attack}\tä\n")
    guard.buffer.write(attack.encode()[:1])
    guard.buffer.write(attack.encode()[1:] + b"\r\n\xff")
    assert screen.getvalue() == f"{visible(attack)}\tä\n{visible(attack)}\r\n\\xff"
    assert NEVER.search(screen.getvalue().replace("\r\n", "")) is None
    assert unguarded(guard) is screen  # type: ignore[arg-type]


def test_columns_are_as_wide_as_what_is_shown() -> None:
    from rich.table import Table

    table = Table("x", "y")
    table.add_row("\x1b[2J\x9b", "1")
    screen = Screen()
    SafeConsole(screen, width=60, color_system=None).print(table)
    lines = screen.getvalue().splitlines()
    assert {len(line) for line in lines} == {len(lines[0])}
    assert r"│ \x1b[2J\x9b │ 1 │" in lines


def test_rich_is_used_through_the_safe_console_alone() -> None:
    root = Path(__file__).resolve().parents[2]
    using = [
        path.name
        for folder in ("cepctl", "engines", "io")
        for path in (root / folder).rglob("*.py")
        if re.search(
            r"rich\.(console|live|progress|prompt)\b|from rich import", path.read_text(encoding="utf-8")
        )
    ]
    assert using == ["console.py"]
