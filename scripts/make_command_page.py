"""Write docs/command-line.md from what `--help` prints; with --check only compare."""

from __future__ import annotations

import contextlib
import sys
import tempfile

import click
from click.testing import CliRunner
from made_pages import ROOT, write_or_check

from cepctl.cli import COMMANDS, cli
from cepctl.cli.options.help_groups import GroupedCommand

PAGE = ROOT / "docs" / "command-line.md"
WIDTH = 100
HEAD = """# Command line

<!-- Written by scripts/docs from the help texts: change those, not this page. -->

Every option can also be set in the environment (`CEPCTL_MATCH_TOP_K=10` for `cepctl match --top-k 10`)
or in a file, `cepctl.toml`: [configuration](configuration.md).

`--help` of a command shows the options that most runs need; `--help-all` shows all, as this page does, and
`cepctl --help-all` those of every command.  What answers a question also [answers as JSON](json.md), by one
schema.

Only results go to standard output; progress, warnings and the summary go to standard error.

| exit code | meaning |
|---|---|
| 0 | done, also when nothing matched |
| 1 | there were matches and `--fail-on-match` was given, or findings and `--fail-on` |
| 2 | the command line or the query is wrong, or the query is refused: unsupported, or too large |
| 3 | an input is unreadable, or damaged beyond `--max-errors` |
| 4 | the job failed |
| 5 | another run holds the state |
| 130 | interrupted |
"""


def help_text(words: list[str], wish: str = "--help") -> str:
    """What `cepctl WORDS --help` prints, `WIDTH` columns wide."""
    # Elsewhere, because the help would show the defaults that a cepctl.toml sets here.
    with tempfile.TemporaryDirectory() as elsewhere, contextlib.chdir(elsewhere):
        told = CliRunner().invoke(
            cli, [*words, wish], prog_name="cepctl", terminal_width=WIDTH, max_content_width=WIDTH
        )
    if told.exception is not None:
        raise told.exception
    return told.output.rstrip()


def section(words: list[str]) -> str:
    title = " ".join(["cepctl", *words])
    command = cli.get_command(click.Context(cli), words[0]) if words else None
    wish = "--help-all" if isinstance(command, GroupedCommand) else "--help"
    return f"\n## `{title}`\n\n```text\n{help_text(words, wish)}\n```\n"


def command_words() -> list[list[str]]:
    """The words of every command, each group before its own commands."""
    found: list[list[str]] = [[]]
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        own = list(command.commands) if isinstance(command, click.Group) else []
        found += [[name], *([name, each] for each in own)]
    return found


def page() -> str:
    return HEAD + "".join(map(section, command_words()))


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page()))
