"""`cepctl match --state DIR --follow`: one incremental run after the other, each when inputs have changed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

from cepctl.cli.match.request import MatchRequest
from cepctl.errors import LogFormatError, UsageError
from cepctl.io.rows.forms import FORMS

POLL_SECONDS = 1.0
_Stamps = frozenset[tuple[str, int | None, int | None]]


def follow(request: MatchRequest, run: Callable[[MatchRequest], int]) -> NoReturn:
    """Run now, and again whenever a file has changed, come or gone; ends by a signal alone.

    Raises
    ------
    UsageError
        If the rows of several runs cannot stand below each other, or the first run would be the last.
    """
    if request.incremental.final:
        raise UsageError("--final cannot apply with --follow: a closed state reads no more input")
    form = request.rows.form
    if request.rows.output is None and form is not None and FORMS[form].one_document:
        raise UsageError(
            f"--follow prints the rows of many runs, and {form} is one document; choose csv or "
            "jsonl, or name a directory with -o, which gets a file for each run"
        )
    seen = _stamps(request)
    while True:
        rows = run(request)
        sys.stdout.flush()
        if rows or not request.quiet:  # Only then there is a header.
            request = replace(request, continued=True)
        while (now := _stamps(request)) in (seen, None):
            time.sleep(POLL_SECONDS)
        seen = now


def _stamps(request: MatchRequest) -> _Stamps | None:
    """The inputs with their sizes and times; None while none is there, as between the steps of a rotation."""
    from cepctl.io.source.locations import list_inputs

    try:
        files = list_inputs(request.paths, follow_links=request.question.raw_input.follow_links)
        found = []
        for file in files:
            filesystem, path = file.location.resolve()
            facts = filesystem.get_file_info(path)
            found.append((file.location.uri, facts.size, facts.mtime_ns))
    except (LogFormatError, OSError):
        return None
    return frozenset(found)
