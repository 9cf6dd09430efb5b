"""Help that fits a head: a dozen options in groups, all of them on demand."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from cepctl.cli import COMMANDS, cli, main
from cepctl.cli.options.help_groups import GroupedCommand, GroupedOption, HelpGroup
from cepctl.cli.options.settings import options_of

GROUPED = ("match", "ingest")


def grouped(name: str) -> GroupedCommand:
    command = cli.get_command(click.Context(cli), name)
    assert isinstance(command, GroupedCommand)
    return command


def shown_options(text: str) -> set[str]:
    return set(re.findall(r"^  (?:-\w, )?--([\w-]+)", text, re.MULTILINE)) - {"help", "help-all"}


def test_a_command_shows_an_option_where_it_says_or_where_the_option_itself_does() -> None:
    options = [
        GroupedOption(["--own"], group=HelpGroup.PRINT),
        GroupedOption(["--shared"], group=HelpGroup.LOGS),
        GroupedOption(["--other"], group=HelpGroup.LOGS),
    ]
    command = GroupedCommand("toy", params=options, moved={HelpGroup.ASK: ["shared"]})
    assert command.usual == {"What to ask": ("shared",), "What to print": ("own",)}
    assert command.further == {"How logs are read": ("other",)}


def test_an_option_of_no_group_is_the_command_s_own() -> None:
    command = GroupedCommand("toy", params=[click.Option(["--stray"])])
    assert command.usual == {"Options": ("stray",)}


def test_options_of_reading_stand_behind_help_all(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("report", "calibrate", "learn", "show", "explain", "follows", "inspect"):
        assert main([name, "--help"]) == 0
        short = capsys.readouterr().out
        assert len(short.splitlines()) <= 60
        assert "--keep-unmatched" not in short
        assert main([name, "--help-all"]) == 0
        assert "--keep-unmatched" in capsys.readouterr().out


def test_the_commands_stand_in_groups_and_demo_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert "Begin with `cepctl demo`" in said
    titles = ["Begin:", "Take logs in:", "See what can be asked:", "Ask:", "Look at answers:", "Set up:"]
    assert [said.index(title) for title in titles] == sorted(said.index(title) for title in titles)
    assert main(["--help-all"]) == 0
    every = capsys.readouterr().out
    assert every.count("\nUsage: cepctl ") >= len(COMMANDS)
    assert "--keep-unmatched" in every


@pytest.mark.parametrize("name", GROUPED)
def test_help_shows_a_dozen_options_and_says_how_many_there_are(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = grouped(name)
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    usual = {each for names in command.usual.values() for each in names}
    assert shown_options(shown) == usual
    assert len(usual) == 12
    assert f"Show all {len(options_of(command))} options and exit." in shown
    assert "\nOptions:\n" not in shown
    assert "-h, --help" in shown


@pytest.mark.parametrize("name", GROUPED)
def test_all_options_are_shown_on_demand(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = grouped(name)
    assert main([name, "--help-all"]) == 0
    shown = capsys.readouterr().out
    assert shown_options(shown) == set(options_of(command))
    assert all(f"\n{title}:\n" in shown for title in (*command.usual, *command.further))


def test_the_groups_of_match_say_what_to_ask_what_to_print_and_where_to_run() -> None:
    assert [*grouped("match").usual] == ["What to ask", "What to print", "Where to run"]


def test_help_cannot_be_set_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_".join(["CEPCTL", "MATCH", "HELP", "ALL"]), "1")
    assert main(["match", "PATTERN A a", "-"]) == 2
    assert "_MATCH_HELP_ALL in the environment is an option of no command" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--slack 1h", "--slack cannot apply without --state"),
        ("--final", "--final cannot apply without --state"),
        ("--eager", "--eager cannot apply without --state"),
        ("--late x.jsonl", "--late cannot apply without --state"),
        ("--reopen", "--reopen cannot apply without --state"),
        ("--keep 1h", "--keep cannot apply without --state"),
        ("--follow", "--follow cannot apply without --state"),
        ("--keep-sketch", "--keep-sketch cannot apply without --state"),
        ("--sketch-on x", "--sketch-on cannot apply without --state"),
        ("--overwrite", "--overwrite cannot apply without a folder of rows (-o ROWS/)"),
        ("--runner local --master local[2]", "--master cannot apply with --runner local"),
        ("--runner local --conf a=b", "--conf cannot apply with --runner local"),
        ("--csv-safe --format jsonl", "--csv-safe cannot apply to rows that are written as jsonl"),
    ],
)
def test_an_option_that_exists_only_beside_another_says_which(
    words: str,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("event_type,time,x\nA,1,2\n")
    monkeypatch.setenv("CEPCTL_MATCH_RUNNER", "local")
    assert main(["match", "PATTERN A a", "log.csv", *words.split()]) == 2
    assert said in capsys.readouterr().err
