"""Ids of events as a table has room for them: a number for each file, and what differs within it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOST_FILES = 9
_SHORTEST = 4
"""Files with fewer letters are no longer than their number."""
_ID = re.compile(r"[^ +]+")
_ENCODED = {"%20": " ", "%2B": "+", "%25": "%"}
_CODES = {sign: code for code, sign in _ENCODED.items()}
_CODED = re.compile("[ +%]")


def short_ids(matches: Sequence[str]) -> tuple[list[str], str | None]:
    """Matches with short ids, and what the numbers in them stand for; None where nothing is short.

    Ids that a log gave itself stay whole, and all do where they are of many files.

    Examples
    --------
    >>> short_ids(["jobs.log#73 gmond.xml#41+gmond.xml#42"])
    (['1#73 2#41+2#42'], '1# jobs.log, 2# gmond.xml')
    >>> short_ids(["jobs.log#73 jobs.log#82"])
    (['73 82'], 'jobs.log#...')
    >>> short_ids(["a b"])
    (['a b'], None)
    """
    ids = dict.fromkeys(found for match in matches for found in _ID.findall(match))
    files = {each: each.rpartition("#")[0] for each in ids}
    long_names = list(dict.fromkeys(file for file in files.values() if len(file) >= _SHORTEST))
    if not long_names or len(long_names) > _MOST_FILES:
        return list(matches), None
    if len(long_names) == 1 and all(files.values()):
        short = {each: each.rpartition("#")[2] for each in ids}
        legend = f"{_decoded(long_names[0])}#..."
    else:
        numbers = {file: number for number, file in enumerate(long_names, 1)}
        short = {
            each: f"{numbers[file]}{each[len(file) :]}" for each, file in files.items() if file in numbers
        }
        legend = ", ".join(f"{number}# {_decoded(file)}" for file, number in numbers.items())
    return [_ID.sub(lambda found: short.get(found[0], found[0]), match) for match in matches], legend


def short_names(ids: Sequence[str]) -> tuple[dict[str, str], str | None]:
    """For each of some ids, as events have them, its short name; and what numbers in them stand for.

    Examples
    --------
    >>> short_names(["jobs.log#73", "a b"])
    ({'jobs.log#73': '1#73', 'a b': 'a b'}, '1# jobs.log')
    """
    encoded = [_CODED.sub(lambda found: _CODES[found[0]], each) for each in ids]
    names, legend = short_ids(encoded)
    return dict(zip(ids, map(_decoded, names), strict=True)), legend


def _decoded(text: str) -> str:
    return re.sub("%20|%2B|%25", lambda code: _ENCODED[code[0]], text)
