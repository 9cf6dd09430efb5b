"""Laws of order as a model file states them: every mistake is named by file, law and remedy.

    [[law]]
    by = "case_id"            # the events of one value are a key
    step = ["event_type"]     # attributes whose texts, joined by +, are an event's step
    [law.next."A"]            # what comes right after an A; also after "^", before the first event
    "B" = 4.0                 # four times as probable as without a law; "$" is after the last event
    [law.before."A"]
    "C" = 2.5                 # an A somewhere before a C

What `[law.evidence]` holds is for people and is not read.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, TypeAlias

from cepctl.errors import CepctlError, UncertaintyModelError
from cepctl.laws.law import BEGIN, END, OrderLaw

_KEYS = ("by", "step", "next", "before", "evidence")
_DEFAULT_STEP = ("event_type",)
_FORM = 'write [[law]] before each, with by = "case_id" and factors as in [law.next."A"] "B" = 4.0'

Factors: TypeAlias = dict[tuple[str, str], float]


def read_laws(tables: object, file: str) -> tuple[OrderLaw, ...]:
    """The laws of what `[[law]]` holds in a model file; factors of 1 say nothing and are left out.

    Raises
    ------
    UncertaintyModelError
        If a law cannot be read, or two are for the events of one attribute; names file, law and remedy.

    Examples
    --------
    >>> read_laws([{"by": "case_id", "next": {"A": {"B": 4}}}], "model.toml")[0].following
    {('A', 'B'): 4.0}
    """
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UncertaintyModelError(f"{file}: [[law]] takes tables; {_FORM}")
    found: list[OrderLaw] = []
    for number, table in enumerate(tables, start=1):
        try:
            law = _law(table)
            _refuse_second([each.by for each in found], law.by)
        except CepctlError as problem:
            raise UncertaintyModelError(f"{file}: law {number}: {problem}") from problem
        found.append(law)
    return tuple(found)


def _law(table: Mapping[str, Any]) -> OrderLaw:
    _require_known_keys(table)
    if "by" not in table:
        raise UncertaintyModelError(f"it does not say whose events it orders; {_FORM}")
    by = _name(table["by"], "by")
    following = _factors(table.get("next", {}), "next")
    before = _factors(table.get("before", {}), "before")
    for first, second in following:
        if first == END:
            raise UncertaintyModelError(
                f'[law.next."{END}"]: nothing comes after the end of a key; leave it out'
            )
        if second == BEGIN or (first, second) == (BEGIN, END):
            raise UncertaintyModelError(
                f'[law.next."{first}"] "{second}": "{BEGIN}" is before the first event of a key and '
                f'"{END}" after the last, so this never happens; leave it out'
            )
    for first, second in before:
        if {first, second} & {BEGIN, END}:
            raise UncertaintyModelError(
                f'[law.before."{first}"] "{second}": every event is after "{BEGIN}" and before "{END}"; '
                f"leave it out, or write it in [law.next]"
            )
    return OrderLaw(by, _step(table.get("step", list(_DEFAULT_STEP))), following, before)


def _refuse_second(known: list[str], by: str) -> None:
    if by in known:
        raise UncertaintyModelError(
            f"law {known.index(by) + 1} is for the events of the attribute '{by}' too, and an event is under "
            "one law; write their factors in one [[law]]"
        )


def _require_known_keys(table: Mapping[str, Any]) -> None:
    for key in table:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; known: {', '.join(_KEYS)}"
            raise UncertaintyModelError(f"unknown key '{key}'{hint}")


def _name(value: object, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise UncertaintyModelError(f"{key} must be the name of an attribute in quotes, not {value!r}")
    return value


def _step(value: object) -> tuple[str, ...]:
    named = [value] if isinstance(value, str) else value
    if not isinstance(named, list) or not named:
        raise UncertaintyModelError(f'step must name attributes, as in step = ["event_type"], not {value!r}')
    names = tuple(_name(each, "step") for each in named)
    for name in names:
        if names.count(name) > 1:
            raise UncertaintyModelError(f"step names '{name}' twice; name it once")
    return names


def _factors(value: object, kind: str) -> Factors:
    return {steps: factor for steps, factor in _stated(value, kind) if factor != 1.0}


def _stated(value: object, kind: str) -> Iterator[tuple[tuple[str, str], float]]:
    form = f'write [law.{kind}."A"], and in it "B" = 4.0'
    if not isinstance(value, dict):
        raise UncertaintyModelError(f"{kind} must be tables of factors, not {value!r}; {form}")
    for first, table in value.items():
        if not isinstance(table, dict):
            raise UncertaintyModelError(f"{kind} of '{first}' must be a table, not {table!r}; {form}")
        for second, factor in table.items():
            yield (first, second), _factor(factor, f'[law.{kind}."{first}"] "{second}"')


def _factor(value: object, place: str) -> float:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not 0 < number <= sys.float_info.max:
        raise UncertaintyModelError(
            f"{place} = {value!r}: a factor is a number above 0 and finite: 1 leaves the order as probable "
            "as it is, 0.01 makes it rare, and an order that is impossible is said by [[given]]"
        )
    return float(number)
