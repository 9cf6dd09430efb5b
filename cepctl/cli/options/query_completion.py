"""What a shell offers inside of a query: the types and attributes of the datasets that the line names.

They stand after the query, so they are looked for in the whole line.  Only what an ingest has written down
is read, no event.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from click.shell_completion import CompletionItem, split_arg_string

from cepctl.errors import CepctlError

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

    Parameters
    ----------
    incomplete
        The query as far as it is typed.
    words
        The whole line, that of the shell if it is None.
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
    from cepctl.schema import FIXED_COLUMNS

    for word in words:
        try:
            dataset = stored_dataset(word) if Path(word).is_dir() else None
        except (CepctlError, OSError):
            continue
        if dataset is not None:
            attributes = [name for name in dataset.schema.names if name not in FIXED_COLUMNS]
            yield list(dataset.type_counts), attributes
