"""Files of templates, as `cepctl inspect --templates` prints them and `--templates` reads them."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from cepctl.errors import LogPatternError
from cepctl.io.contract.message_template import WILDCARD, MessageTemplate
from cepctl.io.templates.masking import words_of
from cepctl.process.trust.toml_text import toml_document

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


def templates_file(
    templates: Sequence[MessageTemplate],
    counts: Mapping[str, int],
    programs: Mapping[str, Mapping[str, int]] | None = None,
) -> str:
    """Templates as a file that `load_templates` reads, each with the number of its events.

    Parameters
    ----------
    templates
        In the order in which types are written.
    counts
        Of templates that are types, by their names.
    programs
        Of templates that are attributes, by their names and the types of events; the types with most events
        come first, and what no event has is left out.
    """
    typed = [(f"# {_events(counts.get(each.event_type, 0))}", each) for each in templates]
    if programs:
        typed = [(text, each) for text, each in typed if each.event_type in counts]
    known = {each.event_type: each for each in templates}
    by_program = _by_program({name: found for name, found in (programs or {}).items() if name in known})
    listed = [(text, known[name]) for text, name in by_program]
    return "\n".join(f"{text}\n{_entry(each)}" for text, each in (*typed, *listed))


def _by_program(programs: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str]]:
    """What is said of each template, and its name, in order."""
    sizes: Counter[str] = Counter()
    for found in programs.values():
        sizes.update(found)
    # A template of several programs stands with the one that most of its events are of.
    mostly = {name: max(found, key=lambda each: (found[each], each)) for name, found in programs.items()}
    order = sorted(
        programs, key=lambda name: (-sizes[mostly[name]], mostly[name], -sum(programs[name].values()), name)
    )
    return [
        (
            "\n".join(
                f"# {program}: {_events(count)}"
                for program, count in sorted(programs[name].items(), key=lambda each: (-each[1], each[0]))
            ),
            name,
        )
        for name in order
    ]


def _events(count: int) -> str:
    return f"{count:,} event{'s' * (count != 1)}"


def _entry(template: MessageTemplate) -> str:
    return (
        f"[[{_TABLE}]]\n"
        f"event_type = {_text(template.event_type)}\n"
        f"template = {_text(template.text)}\n"
        f"names = [{', '.join(map(_text, template.names))}]\n"
        f"example = {_text(template.example)}\n"
    )


def _text(text: str) -> str:
    """A basic string of TOML: that of JSON, whose escapes it has, with those for signs that it forbids."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
