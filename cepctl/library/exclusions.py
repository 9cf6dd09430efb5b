"""Options that cannot apply beside others, or to events that are a dataset already."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any

from cepctl.errors import UsageError
from cepctl.notices import READING, tell
from cepctl.runners.kinds import RUNNERS

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class Exclusion:
    """The `options` (with one of `asking`, if there are any) cannot apply where `beside` has one of `values`.

    Without `values` it is enough that `beside` is given.
    """

    options: tuple[str, ...]
    beside: str
    values: tuple[object, ...]
    because: str
    asking: tuple[object, ...] = ()

    def holds(self, value: object) -> bool:
        """Whether it does, where `beside` has this value (None: it is not given)."""
        return value in self.values if self.values else value is not None


_IN_PROCESS = ("point", "worlds")
_WITHOUT_SPARK = tuple(name for name, kind in RUNNERS.items() if not kind.of_spark)
EXCLUSIONS = (
    Exclusion(("master", "conf"), "runner", _WITHOUT_SPARK, "no Spark is started"),
    Exclusion(("master", "conf"), "engine", _IN_PROCESS, "it runs in this process, without Spark"),
    Exclusion(("order",), "engine", _IN_PROCESS, "it has its own order of components"),
    Exclusion(("approximate",), "engine", _IN_PROCESS, "it estimates nothing"),
    Exclusion(("approximate",), "kleene", ("summary",), "a summary would sum estimates"),
    Exclusion(("format",), "kleene", ("summary",), "a summary names no events to draw", ("trace",)),
    Exclusion(("format",), "state", (), "draw the matches of one run over everything instead", ("trace",)),
    Exclusion(("time",), "format", ("trace",), "a trace has its own form of times"),
    Exclusion(
        ("top-k", "limit", "unordered", "state", "why-not"),
        "exists",
        (True,),
        "it looks for the first match and no further",
    ),
    Exclusion(("closed",), "state", (), "it emits rows only when nothing that comes can change them"),
    Exclusion(("closed",), "engine", ("point",), "it does not look at where the events end"),
    Exclusion(("closed",), "kleene", ("summary",), "a row of a summary is about many matches"),
    Exclusion(("kleene",), "exists", (True,), "a summary names no match", ("summary",)),
    Exclusion(("approximate",), "exists", (True,), "an estimate may lie on either side of a threshold"),
    Exclusion(("format",), "exists", (True,), "it lists no matches to draw", ("trace",)),
    Exclusion(("why-not", "kleene"), "state", (), "it takes all events at once"),
    Exclusion(("top-k",), "state", (), "no single run knows the best of all"),
    Exclusion(("approximate",), "state", (), "estimates change with the events that are kept"),
    Exclusion(
        ("slack", "final", "eager", "late", "reopen", "keep", "follow", "keep-sketch", "sketch-on"),
        "state",
        (None,),
        "it is for incremental runs alone; name their state with --state",
    ),
    Exclusion(("master", "conf"), "unordered", (True,), "no Spark is started"),
    Exclusion(("no-writer",), "writer", (), "it says who wrote what"),
    Exclusion(("unordered",), "engine", _IN_PROCESS, "it gives rows only when all are found"),
    Exclusion(("unordered",), "top-k", (), "the best rows are known only when all are found"),
    Exclusion(("unordered",), "limit", (), "the first rows are known only when all are found"),
    Exclusion(("unordered",), "state", (), "it emits rows in the order in which they are decided"),
    Exclusion(
        ("unordered",),
        "json",
        (True,),
        "its answer begins with facts that are known only when all rows are found",
    ),
    Exclusion(("unordered",), "format", ("table", "trace"), "it is drawn only when all rows are found"),
    Exclusion(("no-clobber",), "state", (), "each run writes a file of its own"),
    Exclusion(("limit",), "state", (), "the rows that it leaves out would never be emitted"),
    Exclusion(
        (
            *("file", "input-format", "uncertainty", "tz", "name", "drop-domain", "patterns"),
            *(
                "keep-unmatched",
                "templates",
                "intervals",
                "epoch",
                "map",
                "columns-of",
                "follow-links",
                "epoch-unit",
                "time-format",
                "per-object",
                "time-unit",
                "exact-times",
                "writer",
                "no-writer",
            ),
        ),
        "last",
        (True,),
        "the last match decides what is read",
    ),
    Exclusion(("laws", "beyond", "law-limit"), "no-laws", (True,), "no law is left"),
    Exclusion(("beyond", "law-limit"), "engine", _IN_PROCESS, "it weighs every world, however many"),
    Exclusion(("match",), "rank", (), "each names a match"),
    Exclusion(("match",), "last", (True,), "it shows a row of the last match; --rank says which"),
    Exclusion(("epoch-unit",), "time-format", (), "every time is read by the form, even one of digits alone"),
    Exclusion(
        ("format", "output", "csv-safe", "overwrite", "no-clobber", "state", "show"),
        "json",
        (True,),
        "it has its own form, on standard output",
    ),
    Exclusion(("json",), "support", (True,), "its table is not about a query"),
    Exclusion(
        ("file", "format", "order", "max-memory"), "support", (True,), "its table is not about a query"
    ),
)

_OF_EVENTS = ("format", "uncertainty", "time-unit", "name", "follow-links", "writer")
"""What an ingest applies to the events of a dataset, too, and every command to the parts of one."""
_OF_ALL = ("no-writer",)
"""What applies to datasets whoever reads them."""
_REMEDIES = {
    "uncertainty": "its events have their intervals; cepctl assign gives them others",
    "name": "its events have their types; cepctl ingest --name makes another dataset of it",
}


def beyond_datasets(
    paths: Sequence[str], names: Collection[str], *, ingesting: bool
) -> Iterator[tuple[str, str, bool]]:
    """Which options for logs do not apply to some of the inputs, as these are datasets.

    Yields
    ------
    tuple
        The option, `to the dataset events: why not`, and whether no input is left to which it applies.
    """
    from cepctl.datasets.parts import names_parts
    from cepctl.datasets.stored import stored_dataset

    names = [name for name in names if name not in _OF_ALL]
    if not names:
        return
    inputs = dict.fromkeys(paths)
    wholes = [path for path in inputs if stored_dataset(path) is not None]
    in_parts = [path for path in inputs if path not in wholes and names_parts(path)]
    for name in names:
        taken_whole = [] if ingesting and name in _OF_EVENTS else wholes
        taken_in_parts = [] if name in _OF_EVENTS else in_parts
        stored = [f"the dataset {path}" for path in taken_whole]
        stored += [f"{path}, parts of a dataset" for path in taken_in_parts]
        remedy = _REMEDIES.get(name, "its logs were read by ingest")
        if stored:
            yield name, f"to {stored[0]}: {remedy}", len(stored) == len(inputs)


def asked_of(choices: DataclassInstance) -> dict[str, Any]:
    """The choices that are not what they are where nothing is said, by their names.

    Examples
    --------
    >>> from cepctl.library.selection import Matching
    >>> asked_of(Matching(top_k=3, exists=False))
    {'top_k': 3}
    """
    values = ((each.name, getattr(choices, each.name), each.default) for each in fields(choices))
    return {name: value for name, value, usual in values if usual is not MISSING and value != usual}


def refuse_excluded(given: Mapping[str, Any]) -> None:
    """Raise UsageError where an option of a program cannot apply beside another.

    Parameters
    ----------
    given
        Values by the names of options; None for what says nothing.
    """
    for exclusion in EXCLUSIONS:
        deciding = given.get(exclusion.beside.replace("-", "_"))
        if exclusion.holds(deciding):
            for option in (name.replace("-", "_") for name in exclusion.options):
                asked = given.get(option)
                if asked is not None and (not exclusion.asking or asked in exclusion.asking):
                    beside = exclusion.beside.replace("-", "_")
                    raise UsageError(f"{option} cannot apply with {beside}={deciding!r}: {exclusion.because}")


def refuse_for_datasets(paths: Sequence[str], reading: Mapping[str, Any], *, ingesting: bool = False) -> None:
    """Raise UsageError where an option for logs applies to none of the inputs; log where to some only."""
    given = [name.replace("_", "-") for name, value in reading.items() if value not in (None, False, {})]
    for name, why, wholly in beyond_datasets(paths, given, ingesting=ingesting):
        option = name.replace("-", "_")
        if wholly:
            raise UsageError(f"{option} cannot apply {why}")
        tell(READING, "note", f"{option} applies to the other inputs, not {why}")
