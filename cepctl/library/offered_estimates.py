"""What is too costly is refused with an estimate as a remedy: but not where estimates are refused as well."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from cepctl.errors import QueryTooLargeError

_LAST = re.compile(r",? or allow an error with --approximate\b[^;\n]*")
_BETWEEN = re.compile(r"\ballow an error with --approximate, ")


@contextmanager
def offering_no_estimate(*, refused: bool) -> Iterator[None]:
    """Where an estimate would be `refused`, errors do not offer it."""
    try:
        yield
    except QueryTooLargeError as error:
        if refused:
            error.args = tuple(without_estimate(each) for each in error.args)
        raise


def without_estimate(text: str) -> str:
    """A refusal without that remedy.

    Examples
    --------
    >>> without_estimate("too much; narrow it (WITHIN, [attr]), or allow an error with --approximate")
    'too much; narrow it (WITHIN, [attr])'
    >>> without_estimate("too much; say more, allow an error with --approximate, or leave it out")
    'too much; say more, or leave it out'
    """
    return _LAST.sub("", _BETWEEN.sub("", text))
