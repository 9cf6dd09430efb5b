"""The four tools: what they take is checked against the folders, what they answer is bounded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from cepctl.assistants.places import OpenFolders
from cepctl.assistants.wording import in_words_of_tools
from cepctl.errors import UsageError
from cepctl.notices import gathering
from cepctl.uncertainty.short_rules import short_rule

MOST_CHARACTERS = 24_000
"""Of all that is sent as an answer."""
_ENVELOPE = 200
_MOST_ITEMS = 50
_MOST_TEXT = 2_000
# What we name ourselves, a row say, has fewer members.
_FEWEST_MEMBERS = 20
_MOST_CUT = 200
_NOTE = 300


def bounded(answer: dict[str, Any], most: int = MOST_CHARACTERS - _ENVELOPE) -> dict[str, Any]:
    """The answer in at most so many characters as it is sent; `cut` names lists and texts that are shortened.

    Examples
    --------
    >>> bounded({"rows": list(range(60))})["cut"]
    ['rows: the first 50 of 60']
    """
    items, text = _MOST_ITEMS, _MOST_TEXT
    while True:
        cut: dict[str, str] = {}
        shortened: dict[str, Any] = _shortened(answer, "", items, text, cut)
        found = {**shortened, "cut": list(cut.values())[:20]}
        if len(_sent(found)) <= most:
            return found
        if items <= 1:
            return _without_largest(found, most)
        items, text = items // 2, max(text // 2, 100)


def _without_largest(answer: dict[str, Any], most: int) -> dict[str, Any]:
    """The answer without as many of its members, the largest first, as it takes."""
    sizes = {name: len(_sent({name: value})) for name, value in answer.items() if name != "cut"}
    cut = [text[:_MOST_CUT] for text in answer["cut"]]
    while True:
        found = {name: value for name, value in answer.items() if name in sizes} | {"cut": cut}
        if not sizes or len(_sent(found)) <= most:
            return found
        largest = max(sizes, key=sizes.__getitem__)
        cut.append(f"{largest[:_MOST_CUT]}: left out, with {sizes.pop(largest):,} characters")


def _sent(answer: dict[str, Any]) -> str:
    """The text as it is sent, a string in the JSON of the protocol, whose SDK gives every value a line."""
    text = json.dumps(answer, ensure_ascii=False, indent=2, default=str)
    return json.dumps(text, ensure_ascii=False)


def _shortened(value: Any, name: str, items: int, text: int, cut: dict[str, str]) -> Any:
    if isinstance(value, dict):
        kept = max(items, _FEWEST_MEMBERS)
        if any(len(str(key)) > text for key in value):
            cut.setdefault("names", f"names: the first {text} characters of each")
        if len(value) > kept:
            cut.setdefault(name, f"{name}: the first {kept} of {len(value):,}")
        return {
            str(key)[:text]: _shortened(each, f"{name}.{key}".strip("."), items, text, cut)
            for key, each in islice(value.items(), kept)
        }
    if isinstance(value, list):
        if len(value) > items:
            cut.setdefault(name, f"{name}: the first {items} of {len(value):,}")
        return [_shortened(each, f"{name}[]", items, text, cut) for each in value[:items]]
    if isinstance(value, str) and len(value) > text:
        cut.setdefault(name, f"{name}: the first {text} of {len(value):,} characters")
        return value[:text]
    return value


_FEW_CHARACTERS = 3_800
"""Of an answer that is read before each question; what it leaves out is named below it."""
_FIRST = frozenset(
    ("events", "time_unit", "first", "last", "uncertain", "types", "attributes", "keys", "examples")
)
_MOST_ROWS = 50
_MOST_MATCHES = 1_000_000


def _in_short(facts: dict[str, Any]) -> dict[str, Any]:
    """What a query is written from: types, attributes, keys, and examples, a line each."""
    return {
        **{name: facts[name] for name in ("events", "time_unit", "first", "last", "uncertain")},
        "examples": [each["query"] for each in facts["examples"]],
        "keys": [" = ".join(filter(None, (each["name"], each["other"]))) for each in facts["keys"]],
        "types": [f"{each['event_type']}: {each['events']}" for each in facts["types"]],
        "attributes": [
            f"{each['name']}: {each['type']}, {each['values']} values" for each in facts["attributes"]
        ],
    }


@dataclass(frozen=True)
class Tools:
    """What an assistant may ask of the events below some folders."""

    places: OpenFolders

    def inspect(
        self,
        events: list[str],
        uncertainty: str | None = None,
        names: dict[str, str] | None = None,
        full: bool = False,
    ) -> dict[str, Any]:
        """Tell what is in events: types, attributes and their values, keys that join types, example queries.

        `events` are paths of logs, event files or datasets.  `uncertainty` is for raw logs: how far their
        times can be off, such as `±500 ms`, or the path of a model (TOML); `names` renames event types.
        `full` asks for all that is known of them, which is long.
        """
        from cepctl.library.inspect import inspect

        facts = inspect(self._paths(events), **self._reading(uncertainty, names)).to_json()
        if full:
            return bounded(facts)
        answer = bounded(_in_short(facts), _FEW_CHARACTERS)
        answer["more"] = f"full=true tells all, also of {', '.join(sorted(facts.keys() - _FIRST))}"
        return answer

    def match(
        self,
        query: str,
        events: list[str],
        uncertainty: str | None = None,
        names: dict[str, str] | None = None,
        min_confidence: float | None = None,
        limit: int = 10,
    ) -> dict[str, Any]:
        """Run a query, PATTERN SEQ(A a, B b) WHERE [key] WITHIN 1 minute, and give its best rows.

        Every row is one combination of events that could have happened, with its probability.
        """
        from cepctl.library.match import match

        if not 1 <= limit <= _MOST_ROWS:
            raise UsageError(f"limit is from 1 to {_MOST_ROWS}")
        reading = self._reading(uncertainty, names)
        with gathering() as notices, match(
            query, self._paths(events), min_confidence=min_confidence, max_matches=_MOST_MATCHES,
            runner="local", **reading,
        ) as found:  # fmt: skip
            rows = json.loads(_as_json(found.head(limit)))
            warnings = [in_words_of_tools(each.message) for each in notices if each.kind == "warning"]
            answer = bounded(
                {
                    "summary": str(found.summary),
                    **({"warnings": warnings} if warnings else {}),
                    "found": found.summary.found,
                    "rows": rows,
                },
                MOST_CHARACTERS - _ENVELOPE - _NOTE,
            )
        if len(found) > len(rows):
            answer["cut"].append(
                f"rows: the {len(rows)} most probable of {len(found):,}; limit asks for more"
            )
        return answer

    def why_not(
        self,
        query: str,
        events: list[str],
        uncertainty: str | None = None,
        names: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Tell why a query matches so little: how far partial matches got, and what stopped them."""
        from cepctl.library.looking import why_not

        found = why_not(query, self._paths(events), **self._reading(uncertainty, names))
        return bounded(found.to_json())

    def show(
        self,
        query: str,
        events: list[str],
        match: str,
        uncertainty: str | None = None,
        names: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Explain one row: when its events can have happened, its rivals, how its confidence comes about.

        `match` is what the tool match gives as `match`: the ids of the events, with blanks between.
        """
        from cepctl.library.looking import show

        shown = show(query, self._paths(events), match=match, **self._reading(uncertainty, names))
        return bounded(shown.to_json())

    def _paths(self, events: Sequence[str]) -> list[str]:
        if not events:
            raise UsageError("events is empty: name logs, event files or datasets")
        return [self.places.inside(path) for path in events]

    def _reading(self, uncertainty: str | None, names: dict[str, str] | None) -> dict[str, Any]:
        model = uncertainty
        if uncertainty is not None and short_rule(uncertainty) is None:
            model = self.places.inside(uncertainty)
        return {"uncertainty": model, "name": names or {}}


def _as_json(table: Any) -> str:
    import polars as pl

    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    times = [name for name, kind in frame.schema.items() if kind.is_temporal()]
    texts = [pl.col(name).dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ") for name in times]
    return frame.with_columns(texts).drop("signature", strict=False).write_json()
