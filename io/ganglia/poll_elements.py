"""Which elements a regular poll has inside of each other, and what is taken of their attributes.

GANGLIA_XML    GRID, CLUSTER, HOST
GRID           GRID, CLUSTER, HOST; HOSTS, METRICS, which are summaries
CLUSTER        HOST; HOSTS, METRICS
HOST           METRIC, with a NAME
METRIC         EXTRA_DATA, with EXTRA_ELEMENT
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from cepctl.io.ganglia.sample_columns import by_upper_name

ROOT = "GANGLIA_XML"
_CONTAINERS = frozenset({"GRID", "CLUSTER", "HOST"})
SUMMARIES = frozenset({"HOSTS", "METRICS"})
CHILDREN: dict[str, frozenset[str]] = {
    "": frozenset({ROOT}),
    ROOT: _CONTAINERS,
    "GRID": _CONTAINERS | SUMMARIES,
    "CLUSTER": frozenset({"HOST"}) | SUMMARIES,
    "HOST": frozenset({"METRIC"}),
    "METRIC": frozenset({"EXTRA_DATA"}),
    "EXTRA_DATA": frozenset({"EXTRA_ELEMENT"}),
    "EXTRA_ELEMENT": frozenset(),
    **dict.fromkeys(SUMMARIES, frozenset()),
}
PARENTS = {"METRIC": "HOST", "EXTRA_DATA": "METRIC", "EXTRA_ELEMENT": "EXTRA_DATA"}
# What has more is not regular.
_MOST_ATTRIBUTES = 100
_MOST_CHARACTERS = 4_096

Values = Callable[[Sequence[str | None]], tuple[Any, ...]]


class IrregularError(Exception):
    """The poll is not of the shape that is read here."""


@lru_cache(maxsize=1_024)
def values_of(wanted: tuple[str, ...], names: tuple[str, ...]) -> Values:
    """What takes the wanted values of attributes with these names, of names and values and a None in turn.

    Raises IrregularError for names that mean something else with namespaces, which are not looked at here.
    """
    if len(names) > _MOST_ATTRIBUTES or sum(map(len, names)) > _MOST_CHARACTERS:
        raise IrregularError
    for name in names:
        if ":" in name or name == "xmlns" or not name.isascii():
            raise IrregularError
    places = by_upper_name((name, 2 * place + 1) for place, name in enumerate(names))
    return itemgetter(*(places.get(name, -1) for name in wanted))


def require_inner(_name: str, system: str | None, public: str | None, _inner: int) -> None:
    if system is not None or public is not None:
        raise IrregularError


def require_plain_type(_element: str, _name: str, kind: str, _default: str | None, _required: int) -> None:
    if kind != "CDATA" and not kind.startswith("("):
        raise IrregularError


def irregular(*_: object) -> None:
    raise IrregularError
