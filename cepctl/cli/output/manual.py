"""A manual page in the language of man(7), from a command's own help."""

from __future__ import annotations

from collections.abc import Sequence

import click

from cepctl import __version__


def manual_page(
    command: click.Command, path: str, others: Sequence[str], help_names: Sequence[str] = ("--help",)
) -> str:
    r"""The page of a command.

    `command`, `path`: what is described, and how it is called.  `others`: names of commands below it, whose
    pages are named; `help_names`: the options that ask for help, which a command remembers.

    Examples
    --------
    >>> page = manual_page(click.Command("x", help="Do it."), "cepctl x", [])
    >>> page.splitlines()[1:4]
    ['.SH NAME', 'cepctl\\-x \\- Do it.', '.SH SYNOPSIS']
    """
    with click.Context(command, info_name=path, help_option_names=[*help_names]) as context:
        usage = " ".join(command.collect_usage_pieces(context))
        options = [
            record
            for parameter in command.get_params(context)
            if (record := parameter.get_help_record(context))
        ]
    first, *rest = (command.help or "").strip().split("\n\n")
    title = path.replace(" ", "-")
    lines = [
        f'.TH "{title.upper()}" "1" "" "cepctl {__version__}" "cepctl"',
        ".SH NAME",
        rf"{_roff(title)} \- {_roff(_joined(first))}",
        ".SH SYNOPSIS",
        rf"\fB{_roff(path)}\fR {_roff(usage)}",
    ]
    if rest:
        lines += [".SH DESCRIPTION", *_paragraphs(rest)]
    lines += [".SH OPTIONS"] if options else []
    for names, text in filter(all, options):  # A bare argument stands in the synopsis.
        lines += [".TP", rf"\fB{_roff(names)}\fR", _roff(_joined(text))]
    if others:
        lines += [".SH COMMANDS", ", ".join(rf"\fBcepctl\-{_roff(name)}\fR(1)" for name in others)]
    return "\n".join(lines) + "\n"


def _paragraphs(texts: Sequence[str]) -> list[str]:
    return [line for text in texts for line in (".PP", _roff(_joined(text.replace("\b", ""))))]


def _joined(text: str) -> str:
    return " ".join(text.split())


def _roff(text: str) -> str:
    """Text in which nothing is a command of roff."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("±", r"\[+-]")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
