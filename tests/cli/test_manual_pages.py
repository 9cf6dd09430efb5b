"""`cepctl man`: the help of every command as a manual page."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import click
import pytest

from cepctl.cli import COMMANDS, all_commands, main
from cepctl.cli.output.manual import manual_page


def test_every_command_has_a_page_with_every_option(tmp_path: Path) -> None:
    assert main(["man", "-o", str(tmp_path / "man1")]) == 0
    pages = {path.name: path.read_text() for path in (tmp_path / "man1").iterdir()}
    assert pages.keys() == {"cepctl.1", *(f"cepctl-{name}.1" for name in COMMANDS)}
    for command in all_commands():
        page = pages[f"cepctl-{command.name}.1"]
        for option in (each for each in command.params if isinstance(each, click.Option)):
            assert option.opts[-1].replace("-", r"\-") in page


def test_a_page_is_printed_for_one_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man", "match"]) == 0
    said = capsys.readouterr().out
    assert said.startswith('.TH "CEPCTL-MATCH" "1" ')
    assert ".SH SYNOPSIS\n\\fBcepctl match\\fR [OPTIONS] QUERY EVENTS...\n" in said
    assert main(["man"]) == 0
    assert "\\fBcepctl\\-match\\fR(1)" in capsys.readouterr().out


def test_groff_has_nothing_to_complain_of(capsys: pytest.CaptureFixture[str]) -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    main(["man", "match"])
    page = capsys.readouterr().out
    done = subprocess.run(
        [groff, "-man", "-ww", "-Tascii", "-P-cbou"],
        input=page,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    assert "--top-k" in done.stdout


def test_nothing_in_a_help_is_a_command_of_roff() -> None:
    page = manual_page(click.Command("x", help=".so /etc/passwd\n\n'br \\fB"), "cepctl x", [])
    assert "\n.so" not in page
    assert "\n'br" not in page
    assert "\\&'br \\efB" in page


def test_what_is_no_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man", "mach"]) == 2
    assert "no such command 'mach'; there are demo, ingest" in capsys.readouterr().err
    assert main(["man", "match", "-o", "somewhere"]) == 2
    assert "--output takes every command, so leave out 'match'" in capsys.readouterr().err
