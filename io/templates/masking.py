r"""Messages without what surely varies: words with digits, then addresses, paths, hosts, times and numbers.

It is done in two steps.  The first works on all messages of a block at once: every word that has a digit
becomes `0`.  What is left differs in far fewer messages than there are, so the second, by regular
expressions, is done once for each text that differs.

    message                                        key                           words
    Failed none for root from 10.0.0.7 port 38926  Failed none for root from     Failed none for root from
                                                   0.0.0.0 port 0                <*> port <*>
"""

from __future__ import annotations

import re

import pyarrow as pa

from cepctl.io.contract.message_template import WILDCARD

# Stands for a blank inside of what is masked, so that words can still be told by their number.
_GLUE = "\x01"
_LETTER = r"A-Za-z[^\x00-\x7F]"
_NUMBERED = f"[{_LETTER}]*[0-9][0-9{_LETTER}]*"
_FEW = 64
# The same for Python, which keeps it: to make it anew takes longer than a small file.
_NUMBERED_HERE = re.compile(
    "(?<![0-9{0}])[{0}]*[0-9][0-9{0}]*".replace("{0}", "A-Za-z\x80-\U0010ffff"),
)

_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_UNIT = r"(?: ?(?:[KMGT]?i?B|ms|us|ns|secs?|seconds?|mins?)\b)"
_NUMBER = r"0(?:[.,:]0)*"
_VARIABLE = tuple(
    re.compile(expression)
    for expression in (
        r"\b[0-9a-fA-F]{1,8}(?:-[0-9a-fA-F]{1,4}){3}-[0-9a-fA-F]{1,12}\b",
        r"\b(?:[0-9a-fA-F]{1,2}:){5,}[0-9a-fA-F]{1,2}\b",
        rf"(?:\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?\b{_MONTH} +0 0:0:0(?: [A-Z]{{3,4}})?(?: 0)?\b",
        r"\b0[-/]0[-/]0[T :]0:0(?::0)?(?:[.,:]0)?Z?\b",
        r"/?\b0(?:\.0){3}(?::0)?\b(?:\.0)?",
        r"\b[A-Za-z]:\\[^\s,\"']+",
        r"(?<![\w.])(?:~|\.{1,2})?(?:/[\w.@%+~:$#=&?-]+){2,}/?",
        r"\b[A-Za-z0](?:[\w-]{0,63}\.){1,12}[A-Za-z]{2,63}:0\b",
        r"(?<![\w.])(?:[A-Za-z0][\w-]*\.){2,}[A-Za-z]{2,}(?![\w.(])",
        r"\b(?:[a-f]{8,}|[A-F]{8,})\b",
        rf"(?:(?<=\s)<|(?<![\w.]))[-+]?{_NUMBER}{_UNIT}?(?:(?![\w])|(?=[KMGT]\b))",
    )
)
# A size that stands once more in larger units.
_RESTATED = re.compile(rf"(?<=bytes) \({re.escape(WILDCARD)}{_GLUE}\)")
_WITH_DIGITS = re.compile(r"(?:\w+_-|(?<![\w)\]])-)?\w*\d\w*")
_TWO_LETTERS = re.compile(r"[A-Za-z]{2}")
_BLANKS = re.compile(r"\s+")
_LONG_WORD = re.compile(r"\S{200,}")
_LONGEST = 2_000


def keys_of(messages: pa.Array) -> pa.Array:
    """The messages with `0` for each word that has a digit; a word is of letters, digits and all beyond
    ASCII.

    Examples
    --------
    >>> keys_of(pa.array(["blk_38 on eth0", "no digit", ""])).to_pylist()
    ['blk_0 on 0', 'no digit', '']
    """
    if len(messages) <= _FEW:
        return pa.array([_NUMBERED_HERE.sub("0", each or "") for each in messages.to_pylist()], pa.string())
    # Most logs have no messages that are mined, and Polars takes longer to import than a small one to read.
    import polars as pl

    texts = pl.Series(messages, dtype=pl.String).fill_null("")
    return texts.str.replace_all(_NUMBERED, "0").to_arrow().cast(pa.string())


def words_of(key: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The words of a key with wildcards for what surely varies, and how many of its words each stands for.

    Examples
    --------
    >>> words_of("took 0 ms at Jul 0 0:0:0 0, user=ann (uid=0)")
    (('took', '<*>', 'at', '<*>', 'user=ann', '(uid=<*>)'), (1, 2, 1, 4, 1, 1))
    """
    key, rest = _divided(_LONG_WORD.sub(WILDCARD, key))
    for expression in _VARIABLE:
        key = expression.sub(_wildcard, key)
    key = _RESTATED.sub(2 * _GLUE, key)
    words, spans = [], []
    for word in key.split():
        spans.append(1 + word.count(_GLUE))
        words.append(_whole(word.replace(_GLUE, "")))
    if rest:
        words.append(WILDCARD)
        spans.append(len(rest))
    return tuple(words), tuple(spans)


def _divided(key: str) -> tuple[str, list[str]]:
    """The beginning of a long key, and the words behind it, which are one variable."""
    if len(key) <= _LONGEST:
        return key, []
    cut = key.rfind(" ", 0, _LONGEST)
    return key[: max(cut, 0)], key[max(cut, 0) :].split()


def _wildcard(found: re.Match[str]) -> str:
    return WILDCARD + _GLUE * len(_BLANKS.findall(found[0]))


def _whole(word: str) -> str:
    """A word as it is, with wildcards for its parts, or a wildcard where little else is in it."""
    if WILDCARD in word and _TWO_LETTERS.search(word.replace(WILDCARD, "")) is None:
        return WILDCARD
    parts = word.split(WILDCARD)
    return WILDCARD.join(_WITH_DIGITS.sub(WILDCARD, part) for part in parts)
