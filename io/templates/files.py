"""Files of templates, as `cepctl inspect --templates` prints them and `--templates` reads them."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from cepctl.errors import LogPatternError
from cepctl.io.contract.message_template import WILDCARD, MessageTemplate
from cepctl.io.templates.masking import words_of
from cepctl.toml_text import toml_document

_TABLE = "template"
_KEYS = ("event_type", "template", "names", "example")
_DIGITS = re.compile("[0-9]+")
_HEADING = re.compile(r"^[ \t]*\[\[[ \t]*template[ \t]*\]\]", re.MULTILINE)


def load_templates(path: str) -> tuple[MessageTemplate, ...]:
    """Read a file of templates.

    Raises
    ------
    LogPatternError
        If the file cannot be read, is not TOML, or a template in it is wrong; it names file and line.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        cause = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8"
        raise LogPatternError(f"cannot read the templates {path}: {cause}") from problem
    try:
        content = toml_document(text)
    except tomllib.TOMLDecodeError as problem:
        raise LogPatternError(f"{path}: {problem}") from problem
    entries = content.get(_TABLE)
    if not isinstance(entries, list) or not entries or set(content) != {_TABLE}:
        raise LogPatternError(
            f"{path}: it has no templates, each a [[template]]; cepctl inspect EVENTS --templates prints some"
        )
    lines = [text.count("\n", 0, found.start()) + 1 for found in _HEADING.finditer(text)]
    places = [f"{path}:{line}" for line in lines] if len(lines) == len(entries) else [path] * len(entries)
    return tuple(_template(entry, place) for entry, place in zip(entries, places, strict=True))


def _template(entry: Mapping[str, Any], place: str) -> MessageTemplate:
    for key in entry:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, 1)
            hint = f", did you mean '{near[0]}'?" if near else ""
            raise LogPatternError(f"{place}: unknown key '{key}'{hint}; a template has {', '.join(_KEYS)}")
    for key in _KEYS[:2]:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise LogPatternError(f"{place}: a template needs '{key}', a text that is not empty")
    tokens = tuple(entry["template"].split())
    numbered = next((token for token in tokens if _DIGITS.search(token)), None)
    if numbered is not None:
        (masked,), _ = words_of(_DIGITS.sub("0", numbered))
        raise LogPatternError(
            f"{place}: the word '{numbered}' of the template has a digit, and words with digits count "
            "as variables; "
            f"write {masked} for it, and a name in 'names'"
        )
    wildcards = sum(WILDCARD in token for token in tokens)
    names = entry.get("names", [f"v{number}" for number in range(1, wildcards + 1)])
    known = isinstance(names, list) and all(isinstance(name, str) and name for name in names)
    if not known or len(names) != wildcards or len(set(names)) != len(names):
        raise LogPatternError(
            f"{place}: 'names' must be {wildcards} different names, one for each word of the template with "
            f"{WILDCARD}"
        )
    return MessageTemplate(entry["event_type"], tokens, tuple(names), str(entry.get("example", "")))


def templates_file(templates: Sequence[MessageTemplate], counts: Mapping[str, int]) -> str:
    """Templates as a file that `load_templates` reads, each with the number of its events."""
    return "\n".join(
        f"# {counts.get(each.event_type, 0):,} event{'s' * (counts.get(each.event_type, 0) != 1)}\n"
        f"[[{_TABLE}]]\n"
        f"event_type = {_text(each.event_type)}\n"
        f"template = {_text(each.text)}\n"
        f"names = [{', '.join(map(_text, each.names))}]\n"
        f"example = {_text(each.example)}\n"
        for each in templates
    )


def _text(text: str) -> str:
    """A basic string of TOML: that of JSON, whose escapes it has, with those for signs that it forbids."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
