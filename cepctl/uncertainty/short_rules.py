"""Rules of uncertainty in one line each, `[WHICH=]HOW`: on a command line instead of a model file.

    HOW                ±500 ms, +-500 ms, -16 s..+2 s: around the time;  1 day: the unit that contains it
    WHICH              a name or glob of files or types;  attribute=value
    WHICH=HOW          also WHICH: HOW

They become the text of a model, so that they mean what rules in a file mean, in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cepctl.errors import UncertaintyModelError

if TYPE_CHECKING:
    from cepctl.uncertainty.model import UncertaintyModel

FORMS = "'±500 ms', 'fw.csv=±90 s', 'node=n7: -16 s..+2 s' or '1 day'"
_NUMBER, _UNIT = r"\d+(?:\.\d+)?", r"[A-Za-z]+"
_LENGTH = rf"{_NUMBER}\s*{_UNIT}"
_EITHER = rf"(?:±|\+-|\+/-|-\+)\s*(?P<either>{_LENGTH})"
_RANGE = rf"(?P<first>[+-]?\s*{_NUMBER}\s*(?:{_UNIT})?)\s*\.\.\s*(?P<last>[+-]?\s*{_LENGTH})"
_RULE = re.compile(
    rf"\s*(?:(?P<which>.*\S)\s*[=:]\s*)?(?:{_EITHER}|{_RANGE}|(?P<unit>{_LENGTH}))\s*", re.DOTALL
)
_EVERYTHING = "*"


@dataclass(frozen=True)
class ShortRule:
    """One rule as it was written, and its lines in a model."""

    written: str
    lines: tuple[str, ...]


def model_of(words: Sequence[str]) -> UncertaintyModel:
    """The model that a user names: a file, or rules in one line each, the first that fits an event first.

    Raises
    ------
    UncertaintyModelError
        If the file cannot be read, a rule cannot be meant, or both are named.
    """
    from cepctl.uncertainty.model import UncertaintyModel, load_model, parse_model

    if not words:
        return UncertaintyModel()
    rules = [short_rule(word) for word in words]
    files = [word for word, rule in zip(words, rules, strict=True) if rule is None]
    if not files:
        return parse_model(model_text([rule for rule in rules if rule is not None]), "--uncertainty")
    if _WITHOUT_UNIT.fullmatch(files[0]) and not Path(files[0]).exists():
        raise UncertaintyModelError(
            f"'{files[0]}' has no unit of time; write '{files[0].rstrip()} s', or ms, us, ns, min, h or day"
        )
    if len(words) > 1:
        raise UncertaintyModelError(
            f"'{files[0]}' is no rule such as {FORMS}; a model file stands alone, with all rules in it"
        )
    if not Path(files[0]).exists():
        raise UncertaintyModelError(
            f"cannot read the uncertainty model {files[0]}: there is no such file, and it is no rule such as "
            f"{FORMS}"
        )
    return load_model(files[0])


def file_among(words: Sequence[str]) -> str | None:
    """The model file that is named, if it is not rules."""
    return next((word for word in words if short_rule(word) is None), None)


_WITHOUT_UNIT = re.compile(rf"(?:.*\S\s*[=:])?[\s±+/-]*{_NUMBER}\s*(?:\.\.[\s+-]*{_NUMBER})?\s*")


def words_of(uncertainty: object) -> tuple[str, ...]:
    """What a program says of uncertainty: a path, a rule, several, or rules by what they are about.

    Raises
    ------
    UncertaintyModelError
        If it is a length of time or a number alone.

    Examples
    --------
    >>> words_of({"fw.csv": "±90 s", "*": "1 day"})
    ('fw.csv=±90 s', '1 day')
    """
    if uncertainty is None:
        return ()
    values = uncertainty.values() if isinstance(uncertainty, Mapping) else (uncertainty,)
    if any(isinstance(each, timedelta | int | float) for each in values):
        raise UncertaintyModelError(
            "uncertainty is text, which says the way, too: '±5 s' is around each time, '5 s' the unit that "
            "contains it, '-16 s..+2 s' more before it"
        )
    if isinstance(uncertainty, Mapping):
        return tuple(how if which == _EVERYTHING else f"{which}={how}" for which, how in uncertainty.items())
    if isinstance(uncertainty, list | tuple):
        return tuple(map(str, uncertainty))
    return (str(uncertainty),)


def model_text(rules: Sequence[ShortRule]) -> str:
    """The rules as a model file has them."""
    return "\n".join("\n".join((f"# {rule.written}", "[[rule]]", *rule.lines, "")) for rule in rules)


def short_rule(word: str) -> ShortRule | None:
    """A rule in one line; None of a text that is none, such as the path of a file.

    Examples
    --------
    >>> short_rule("node=n7: -16 s..+2 s").lines
    ('attribute = { "node" = "n7" }', 'interval = { before = "16 s", after = "2 s" }')
    >>> short_rule("1 day").lines, short_rule("model.toml")
    (('granularity = "1 day"',), None)
    """
    found = _RULE.fullmatch(word)
    if found is None:
        return None
    return ShortRule(" ".join(word.split()), (*_which(found["which"]), _how(found)))


def _which(text: str | None) -> tuple[str, ...]:
    if text is None or text == _EVERYTHING:
        return ()
    name, equals, value = text.partition("=")
    if equals:
        return (f"attribute = {{ {_quoted(name.strip())} = {_quoted(value.strip())} }}",)
    return (f"of = {_quoted(text)}",)


def _how(found: re.Match[str]) -> str:
    if found["unit"] is not None:
        return f'granularity = "{found["unit"]}"'
    if found["either"] is not None:
        before, after = found["either"], found["either"]
    else:
        first, after = ("".join(found[name].split()) for name in ("first", "last"))
        unit = "" if first[-1].isalpha() else re.sub(r"[^A-Za-z]", "", after)
        before = first[1:] if first.startswith("-") else f"-{first.removeprefix('+')}"
        before, after = _spaced(f"{before}{unit}"), _spaced(after.removeprefix("+"))
    return f'interval = {{ before = "{before}", after = "{after}" }}'


def _spaced(length: str) -> str:
    """A length of time with a blank before its unit."""
    return re.sub(r"(?<=\d)(?=[A-Za-z])", " ", length)


def _quoted(text: str) -> str:
    """A basic string of TOML."""
    escaped = "".join(
        f"\\u{ord(each):04X}" if ord(each) < 0x20 or each in '"\\\x7f' else each for each in text
    )
    return f'"{escaped}"'
