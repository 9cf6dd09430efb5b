"""The uncertainty model: TOML text -> frozen rules, with every mistake named by file and rule.

A rule says which events it fits (`event_type`, `source`, `of`, `attribute`, `where`) and which true times a
logged time may stand for: one kind of shapes.py, with `interval` alone or beside it; whose `clock` it was
(clock_rules.py), and who wrote it (writer_rules.py).  Beside the rules a model may state what every world
satisfies (`[[given]]`), laws of order (`[[law]]`, cepctl/laws/reading.py), which zones words behind
times name (`zone`), and until when the events tell what happened (`observed`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

from cepctl.errors import CepctlError, UncertaintyModelError
from cepctl.language.ast import Attribute, EventTime, Expression
from cepctl.language.parser import parse_expression, parse_given
from cepctl.language.traversal import walk
from cepctl.laws.law import OrderLaw
from cepctl.laws.reading import read_laws
from cepctl.process.trust.toml_text import toml_document
from cepctl.schema import Observed, TimeUnit, parse_duration
from cepctl.uncertainty.clock_rules import ClockRule, read_clock
from cepctl.uncertainty.recorded_offsets import RecordedOffset
from cepctl.uncertainty.shapes import SHAPES, Interval, Shape, text_in_quotes
from cepctl.uncertainty.writer_rules import WriterRule, read_writer

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CONDITIONS = ("event_type", "source", "of", "attribute", "where")


@dataclass(frozen=True)
class Rule:
    """Which events, and what their time means.  A condition that is None fits every event.

    `of` is a glob of the type or of the source, `attributes` have values as text.

    Where there is a `clock` alone, an event's own part is what its interval would be without the rule.
    Of interval events `end` is what the time of the end means, as that of the start where it is None, and
    `length` how far the logged length may be off.  `writer` says who wrote an event.
    """

    number: int
    event_type: str | None = None
    source: str | None = None
    where: Expression | None = None
    interval: Interval | None = None
    shape: Shape | None = None
    clock: ClockRule | None = None
    end: Interval | None = None
    length: Interval | None = None
    of: str | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    writer: WriterRule | None = None

    @property
    def unconditional(self) -> bool:
        """Whether it fits every event, so that no later rule is ever asked."""
        # Every event has a source; another column of a clock may be null.
        by_attribute = self.clock is not None and self.clock.by not in (None, "source")
        names = {self.event_type, self.source, self.of}
        everything = names <= {None, "*"} and self.where is None and not self.attributes
        return everything and not by_attribute

    @property
    def columns_read(self) -> frozenset[str]:
        """The columns that its condition, its clock and its writer read."""
        leaves = walk(self.where) if self.where is not None else iter(())
        by = {self.clock.by} if self.clock is not None and self.clock.by is not None else set()
        written = frozenset[str]() if self.writer is None else self.writer.columns_read
        return (
            frozenset(by)
            | written
            | {name for name, _ in self.attributes}
            | {
                leaf.which if isinstance(leaf, EventTime) else leaf.name
                for leaf in leaves
                if isinstance(leaf, Attribute | EventTime)
            }
        )

    @property
    def keeps_intervals(self) -> bool:
        """Whether it says nothing of the own part."""
        return self.interval is None and self.shape is None


@dataclass(frozen=True)
class UncertaintyModel:
    """Rules in order, the first that fits wins; `text` is the TOML it was read from.

    `time_unit` is None when the model leaves it to the events; `file` names the model in messages.
    `given` is what every world satisfies, in the words of the query language; `laws` say which orders of
    events are more probable than others; `zones` are pairs of a word behind times and the IANA zone it names;
    `observed`: until when the events tell what happened, None where that is the last of them.
    """

    time_unit: TimeUnit | None = None
    rules: tuple[Rule, ...] = ()
    text: str = ""
    file: str = "uncertainty model"
    given: tuple[str, ...] = ()
    laws: tuple[OrderLaw, ...] = ()
    zones: tuple[tuple[str, str], ...] = ()
    observed: Observed | None = None

    @property
    def records(self) -> dict[str, str]:
        """The files of what was recorded of clocks, each with a digest of its bytes."""
        offsets = (rule.clock.offset for rule in self.rules if rule.clock is not None)
        found = (each.records for each in offsets if isinstance(each, RecordedOffset))
        return {each.file: each.digest for each in found}


def load_model(path: str) -> UncertaintyModel:
    """Read a model file; raises UncertaintyModelError naming the file, the rule and the remedy."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise UncertaintyModelError(f"cannot read the uncertainty model {path}: {problem}") from problem
    return parse_model(text, path)


def parse_model(text: str, file: str = "uncertainty model") -> UncertaintyModel:
    r"""Read a model from TOML text.

    Examples
    --------
    >>> model = parse_model("rule = [{ event_type = 'CPU*', interval = { before = '15 s' } }]")
    >>> model.rules[0].interval.before
    Fraction(15000000, 1)
    """
    try:
        document = toml_document(text)
    except tomllib.TOMLDecodeError as problem:
        raise UncertaintyModelError(f"{file} is not valid TOML: {problem}") from problem
    tables = document.get("rule", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UncertaintyModelError(f"{file}: rules are tables; write [[rule]] before each")
    try:
        _known_keys(document, ("time_unit", "zone", "observed", "rule", "given", "law"))
        unit = (
            TimeUnit.parse(text_in_quotes(document["time_unit"], "time_unit"))
            if "time_unit" in document
            else None
        )
        zones = _words(document.get("zone", {}), "zone", 'zone = { CST = "America/Chicago" }')
        observed = _observed(document["observed"]) if "observed" in document else None
    except UncertaintyModelError as problem:
        raise UncertaintyModelError(f"{file}: {problem}") from problem
    rules = tuple(_rule(number, table, file) for number, table in enumerate(tables, start=1))
    for rule in rules[:-1]:
        if rule.unconditional:
            raise UncertaintyModelError(
                f"{file}: rule {rule.number + 1} is never reached: rule {rule.number} fits every event; "
                f"give rule {rule.number} a condition ({', '.join(_CONDITIONS)}) or move it to the end"
            )
    given = _given(document.get("given", []), file)
    laws = read_laws(document.get("law", []), file)
    return UncertaintyModel(unit, rules, text, file, given, laws, zones, observed)


def _observed(value: object) -> Observed:
    """Until when the events tell what happened."""
    form = 'observed = { until = "2026-06-14T05:20:00Z" }, or observed = { grace = "10 s" }'
    if not isinstance(value, dict) or len(value) != 1 or not value.keys() <= {"until", "grace"}:
        raise UncertaintyModelError(f"observed takes a table of until or grace: write {form}")
    if "grace" in value:
        grace = parse_duration(text_in_quotes(value["grace"], "grace"))
        if grace < 0:
            raise UncertaintyModelError(f"observed: grace is negative; write {form}")
        return Observed(grace=Fraction(grace))
    text = text_in_quotes(value["until"], "until")
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise UncertaintyModelError(f"observed: until = '{text}' is no time with a zone; write {form}")
    return Observed((time - _EPOCH) // timedelta(microseconds=1))


def _given(tables: object, file: str) -> tuple[str, ...]:
    """What every world satisfies: the text of each `holds`, which parses."""
    form = 'write [[given]] before each, and holds = "SEQ(A a, B b) IF a.id = b.id" in it'
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UncertaintyModelError(f"{file}: [[given]] takes tables; {form}")
    found = []
    for number, table in enumerate(tables, start=1):
        place = f"{file}: given {number}"
        try:
            _known_keys(table, ("holds",))
            if "holds" not in table:
                raise UncertaintyModelError(f"it says nothing; {form}")
            found.append(parse_given(text_in_quotes(table["holds"], "holds")).text)
        except CepctlError as problem:
            raise UncertaintyModelError(f"{place}: {problem}") from problem
    return tuple(found)


def _rule(number: int, table: Mapping[str, Any], file: str) -> Rule:
    place = f"{file}: rule {number}"
    try:
        _known_keys(table, (*_CONDITIONS, "interval", *SHAPES, "clock", "end", "length", "writer"))
        shapes = [name for name in SHAPES if name in table]
        if len(shapes) > 1:
            raise UncertaintyModelError(f"{shapes[0]} and {shapes[1]} exclude each other; keep one of them")
        if not shapes and not table.keys() & {"interval", "clock", "end", "length", "writer"}:
            raise UncertaintyModelError(f"it has no interval, {', '.join(SHAPES)}, clock or writer; add one")
        interval = _interval(table["interval"], "interval") if "interval" in table else None
        shape = SHAPES[shapes[0]](table[shapes[0]]) if shapes else None
        where = parse_expression(text_in_quotes(table["where"], "where")) if "where" in table else None
        event_type, source, of = (
            text_in_quotes(table[name], name) if name in table else None
            for name in ("event_type", "source", "of")
        )
        clock = read_clock(table["clock"], Path(file).parent) if "clock" in table else None
        end, length = (_interval(table[name], name) if name in table else None for name in ("end", "length"))
        attributes = _words(table.get("attribute", {}), "attribute", 'attribute = { node = "n7" }')
        writer = read_writer(table["writer"]) if "writer" in table else None
        own = (number, event_type, source, where, interval, shape, clock, end, length)
        return Rule(*own, of, attributes, writer)
    except CepctlError as problem:
        message = str(problem)
        raise UncertaintyModelError(
            message if message.startswith(place) else f"{place}: {message}"
        ) from problem


def _words(value: object, key: str, form: str) -> tuple[tuple[str, str], ...]:
    """What a table says of words."""
    if not isinstance(value, dict):
        raise UncertaintyModelError(f"{key} takes a table: write {form}")
    return tuple((name, text_in_quotes(each, f"the value of {name}")) for name, each in value.items())


def _known_keys(table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; known: {', '.join(known)}"
            raise UncertaintyModelError(f"unknown key '{key}'{hint}")


def _interval(value: object, name: str) -> Interval:
    if not isinstance(value, dict) or not value or not value.keys() <= {"before", "after"}:
        raise UncertaintyModelError(f'write {name} = {{ before = "15 s", after = "0 s" }}')
    before = parse_duration(text_in_quotes(value.get("before", "0 s"), "before"))
    after = parse_duration(text_in_quotes(value.get("after", "0 s"), "after"))
    if before + after < 0:
        raise UncertaintyModelError(f"the {name} is empty: before and after together are below zero")
    return Interval(before, after)
