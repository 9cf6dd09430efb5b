"""A law of order -> the TOML text of a model file, with the evidence for it.

Factors stand in code-point order of their steps and read back bit for bit.  A factor of 1 is left out, which
says the same.  `[law.evidence]` is for people: nothing reads it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping

from cepctl.laws.law import OrderLaw

Evidence = Mapping[str, str | int | float]


def law_text(law: OrderLaw, evidence: Evidence) -> str:
    """The text of a model file that holds one law.

    Examples
    --------
    >>> law = OrderLaw("case_id", following={("^", "A"): 2.0, ("A", "B c"): 4.0, ("B c", "A"): 1.0})
    >>> print(law_text(law, {"keys": 7}), end="")
    [[law]]
    by = "case_id"
    step = ["event_type"]
    <BLANKLINE>
    [law.next."A"]
    "B c" = 4.0
    <BLANKLINE>
    [law.next."^"]
    "A" = 2.0
    <BLANKLINE>
    [law.evidence]
    keys = 7
    """
    head = ["[[law]]", f"by = {_toml(law.by)}", f"step = {_toml(list(law.step))}"]
    tables = [*_tables("next", law.following), *_tables("before", law.before)]
    grounds = ["[law.evidence]", *(f"{name} = {_toml(value)}" for name, value in evidence.items())]
    return "\n\n".join("\n".join(lines) for lines in [head, *tables, grounds]) + "\n"


def _tables(name: str, factors: Mapping[tuple[str, str], float]) -> Iterator[list[str]]:
    by_step: dict[str, dict[str, float]] = defaultdict(dict)
    for (step, other), factor in sorted(factors.items()):
        if factor != 1.0:
            by_step[step][other] = factor
    for step, others in by_step.items():
        lines = (f"{_toml(other)} = {_toml(factor)}" for other, factor in others.items())
        yield [f"[law.{name}.{_toml(step)}]", *lines]


def _toml(value: str | float | list[str]) -> str:
    """A value; but for one character strings and numbers are written as in JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
