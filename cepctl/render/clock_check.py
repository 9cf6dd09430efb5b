"""Orders that the records of clocks exclude: a table with two lines for each pair, JSON, and one line."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any, TextIO

from cepctl.clocks.checks.excluded import STAMP_COLUMNS
from cepctl.render.counting import counted
from cepctl.render.pages import page_width, plain_table, print_page
from cepctl.schema import MICROSECOND, MILLISECOND, NANOSECOND, tick_text

if TYPE_CHECKING:
    from rich.table import Table

    from cepctl.clocks.checks.excluded import Check

_WIDTH = 160
_MOST_SHOWN = 20
_MILLISECOND = 1_000_000
_NUMBERS = ("ahead", "at least", "at most")


def milliseconds(nanoseconds: int) -> str:
    """A length of time in milliseconds, with the digits that it has.

    Examples
    --------
    >>> milliseconds(-28_080_000), milliseconds(1_234_000_001), milliseconds(0)
    ('-28.08', '1234.000001', '0')
    """
    whole, rest = divmod(abs(nanoseconds), _MILLISECOND)
    digits = f"{whole}.{rest:06d}".rstrip("0").rstrip(".")
    return f"-{digits}" if nanoseconds < 0 else digits


def reading_text(nanoseconds: int) -> str:
    """What a clock showed, in UTC, with as many groups of three digits as it has, at least one.

    Examples
    --------
    >>> reading_text(1_772_442_044_000_000_000), reading_text(1_500)
    ('2026-03-02T09:00:44.000Z', '1970-01-01T00:00:00.000001500Z')
    """
    units = (MILLISECOND, MICROSECOND, NANOSECOND)
    unit = next(each for each in units if nanoseconds % each.nanoseconds == 0)
    return tick_text(nanoseconds // unit.nanoseconds, unit)


def print_check(found: Check, file: TextIO) -> None:
    """The worst pairs as a table; nothing where there is none."""
    if not found.excluded.height:
        return
    texts = found.excluded.get_column("given").unique(maintain_order=True).to_list()
    numbers = {text: number for number, text in enumerate(texts, 1)}
    legend = [f"order {number}: {text}" for text, number in numbers.items()]
    rest = found.excluded.height - _MOST_SHOWN
    more = [f"and {counted(rest, 'pair')} more, which --format json has"] if rest > 0 else []
    parts: list[Table | str] = [*legend, "", _table(found, numbers), *more]
    print_page(parts, file, page_width(file, _WIDTH))


def _table(found: Check, numbers: dict[str, int]) -> Table:
    table = plain_table(
        "after by (ms)", "order", "must be", "event", "host", "reading", *_NUMBERS, "recorded in",
        numbers=("after by (ms)", *_NUMBERS),
    )  # fmt: skip
    for row in found.excluded.head(_MOST_SHOWN).iter_rows(named=True):
        head = (milliseconds(row["gap"]), str(numbers[row["given"]]))
        for side, must, cells in (("first", "before", head), ("second", "after", ("", ""))):
            stamp = {name: row[f"{side}_{name}"] for name in STAMP_COLUMNS}
            ahead = (milliseconds(stamp[name]) for name in ("ahead", "least", "most"))
            reading = reading_text(stamp["reading"])
            table.add_row(
                *cells,
                must,
                stamp["event"],
                stamp["host"],
                reading,
                *ahead,
                place_text(stamp["source"], stamp["line"]),
            )
    return table


def place_text(source: str | None, line: int | None) -> str:
    """Where a log of a clock says it; empty where that is not known.

    Examples
    --------
    >>> place_text("node07/tracking.log", 5)
    'node07/tracking.log line 5'
    """
    if source is None:
        return ""
    return source if line is None else f"{source} line {line}"


def write_check(found: Check, file: IO[str]) -> None:
    """All of it as JSON; the fields of a pair are those of the table, lengths of time in milliseconds."""
    pairs = [
        {
            "given": row["given"],
            "after_by_ms": row["gap"] / _MILLISECOND,
            **{side: _stamp_facts(row, side) for side in ("first", "second")},
        }
        for row in found.excluded.iter_rows(named=True)
    ]
    unchecked = vars(found.unchecked)
    file.write(json.dumps({"excluded": pairs, "unchecked": unchecked}, ensure_ascii=False, indent=2) + "\n")


def _stamp_facts(row: dict[str, Any], side: str) -> dict[str, Any]:
    return {
        "event": row[f"{side}_event"],
        "host": row[f"{side}_host"],
        "reading": reading_text(row[f"{side}_reading"]),
        "ahead_ms": row[f"{side}_ahead"] / _MILLISECOND,
        "at_least_ms": row[f"{side}_least"] / _MILLISECOND,
        "at_most_ms": row[f"{side}_most"] / _MILLISECOND,
        "source": row[f"{side}_source"],
        "line": row[f"{side}_line"],
    }


def check_summary(found: Check) -> str:
    """How many pairs are excluded, and the worst gap, in one line."""
    if not found.excluded.height:
        return "the clocks allow every order that is known of these events"
    worst = milliseconds(int(found.excluded.get_column("gap")[0]))
    return f"{counted(found.excluded.height, 'ordered pair')} excluded by the clocks, the worst by {worst} ms"
