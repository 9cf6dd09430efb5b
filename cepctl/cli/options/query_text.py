"""Where a command gets its query from: the text itself, `@file.cep`, `-f file.cep`; `-` is standard input.

What a shell offers inside of a query: the types and attributes of the datasets that the line names.

They stand after the query, so they are looked for in the whole line.  Only what an ingest has written down
is read, no event.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem, split_arg_string

from cepctl.cli.options.help_groups import HelpGroup, grouped_option
from cepctl.errors import CepctlError, UsageError
from cepctl.library.query_text import begins_query, file_text, is_path, text_in

_LINE = "COMP_WORDS"
"""Where the scripts that Click writes put the line."""
_WORD = re.compile(r"[A-Za-z0-9_:]*$")


def is_query(incomplete: str) -> bool:
    """Whether what is typed is the beginning of a query.

    Examples
    --------
    >>> is_query("PATTERN SEQ(A"), is_query("PATT"), is_query("pat/tern")
    (True, False, False)
    """
    return incomplete.upper().startswith("PATTERN ")


def completed_query(incomplete: str, words: Iterable[str] | None = None) -> list[CompletionItem[str]]:
    """The query with its last word made whole, for every type or attribute that begins like it.

    `incomplete`: the query as far as it is typed.  `words`: the whole line, that of the shell if it is None.
    """
    from cepctl.language.printer import attribute_text, type_text

    typed = _WORD.search(incomplete)
    assert typed is not None
    before, start = incomplete[: typed.start()], typed[0]
    if words is None:
        words = split_arg_string(os.environ.get(_LINE, ""))
    is_attribute = before.endswith((".", "[")) or _in_brackets(before)
    names = sorted({name for each in _vocabularies(words) for name in each[is_attribute]})
    return [
        CompletionItem(f"{before}{attribute_text(name) if is_attribute else type_text(name)}")
        for name in names
        if name.startswith(start)
    ]


def _in_brackets(before: str) -> bool:
    """Whether `[node, ` is open before the word."""
    opened = before.rfind("[")
    return opened > before.rfind("]") and before[opened:].replace(",", "").replace(" ", "")[1:].isidentifier()


def _vocabularies(words: Iterable[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Types and attributes of each dataset among some words."""
    from cepctl.datasets.stored import stored_dataset
    from cepctl.event_table import is_attribute

    for word in words:
        try:
            dataset = stored_dataset(word) if Path(word).is_dir() else None
        except (CepctlError, OSError):
            continue
        if dataset is not None:
            attributes = [each.name for each in dataset.schema if is_attribute(each)]
            yield list(dataset.type_counts), attributes


STANDARD_INPUT = "-"
Command = TypeVar("Command", bound=Callable[..., Any])


def query_argument(events: str) -> Callable[[Command], Command]:
    """QUERY, EVENTS and `-f`: parameters arguments (for `read_query`) and query_file.

    `events` is how the usage line shows the inputs: `EVENTS...` or `[EVENTS...]`.
    """

    def decorate(command: Command) -> Command:
        option = grouped_option(
            "-f",
            "--file",
            "query_file",
            type=click.Path(),
            metavar="FILE",
            help="Read the query from FILE, - for standard input; QUERY is left out.",
            group=HelpGroup.ASK,
        )
        arguments = click.argument(
            "arguments", nargs=-1, metavar=f"QUERY {events}", shell_complete=_query_or_events
        )
        return arguments(option(command))

    return decorate


def read_query(arguments: Sequence[str], query_file: str | None) -> tuple[str, tuple[str, ...]]:
    """The query text, and the arguments left for EVENTS.

    Raises
    ------
    UsageError
        If there is no query, there are two, or its file cannot be read as UTF-8 text.
    """
    if query_file is not None:
        if arguments and is_query_text(arguments[0]):
            raise UsageError(f"the query is given twice: by -f {query_file} and as {arguments[0]}")
        return _text_of(query_file), tuple(arguments)
    if not arguments:
        raise UsageError("a query is missing: give its text, @FILE or -f FILE")
    query, *events = arguments
    if query.startswith("@"):
        return _text_of(query[1:]), tuple(events)
    _refuse_path(query, next(filter(is_query_text, events), None))
    if query.endswith(".cep") and not any(sign.isspace() for sign in query):
        raise UsageError(f"QUERY is the text itself; to read the file write @{query} or -f {query}")
    return query, tuple(events)


def _refuse_path(query: str, behind: str | None) -> None:
    """Raise UsageError where a path stands in the place of the query; `behind` it may stand the query."""
    if begins_query(query) or not is_path(query):
        return
    if behind is not None:
        raise UsageError(f"QUERY comes first and EVENTS after it, but '{query}' is a path")
    raise UsageError(
        f"a query is missing: '{query}' is a path, and QUERY comes before EVENTS; to read a query from a "
        f"file write @{query} or -f {query}"
    )


def is_query_text(argument: str) -> bool:
    """Whether an argument is a query or names its file, and not events."""
    return argument.startswith("@") or begins_query(argument)


def query_file_of(arguments: Sequence[str], query_file: str | None) -> str | None:
    """The file that the query is read from; None where there is no file."""
    if query_file is None and arguments and arguments[0].startswith("@"):
        query_file = arguments[0][1:]
    return None if query_file == STANDARD_INPUT else query_file


def _text_of(file: str) -> str:
    if file != STANDARD_INPUT:
        return file_text(file)
    return text_in(sys.stdin.buffer, "the query on standard input")


def _query_or_events(
    context: click.Context, argument: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """What a shell offers: words of a query that is begun, or files, which after `@` it would not find."""
    if is_query(incomplete):
        return completed_query(incomplete)
    if not incomplete.startswith("@"):
        return [CompletionItem(incomplete, type="file")]
    folder, slash, start = incomplete[1:].rpartition("/")
    place = Path(f"{folder}{slash}")
    found = sorted(each for each in place.iterdir() if each.name.startswith(start)) if place.is_dir() else []
    return [CompletionItem(f"@{each}{'/' if each.is_dir() else ''}") for each in found]
