"""A calibration as a table, as JSON, and in one line."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cepctl.render.counting import counted
from cepctl.render.pages import page_width, plain_table, print_page

if TYPE_CHECKING:
    from rich.table import Table

    from cepctl.calibration.result import Calibration
    from cepctl.calibration.scores import Decile, Scores

_WIDTH = 120
_DECIMALS = 3


def calibration_facts(found: Calibration) -> dict[str, Any]:
    """All of it but single rows, as JSON has it."""
    return {
        "blur": found.blur,
        "seed": found.seed,
        "repeat": found.repeat,
        "rows": found.rows,
        "open": found.open,
        "tied": found.tied,
        "certain": found.certain,
        **({} if found.law is None else {"beyond": found.beyond}),
        **_score_facts(found.scores),
        "impossible_happened": found.impossible_happened,
        "deciles": [decile_facts(each) for each in found.scores.deciles],
        "types": [{**asdict(each), "steps": list(each.steps)} for each in found.types],
        **({} if found.lawless is None else {"lawless": _lawless_facts(found.lawless)}),
    }


def _score_facts(scores: Scores) -> dict[str, Any]:
    return {
        "happened": scores.happened,
        "brier": scores.brier,
        "log_score": scores.log_score,
        "calibration_error": scores.calibration_error,
        "worst": scores.worst,
    }


def _lawless_facts(scores: Scores) -> dict[str, Any]:
    return {**_score_facts(scores), "deciles": [decile_facts(each) for each in scores.deciles]}


def decile_facts(decile: Decile) -> dict[str, Any]:
    """One decile as JSON has it."""
    return {name.rstrip("_"): value for name, value in asdict(decile).items()}


def calibration_json(found: Calibration) -> str:
    """The facts as a text of their own."""
    return json.dumps(calibration_facts(found), ensure_ascii=False, indent=2) + "\n"


def calibration_text(found: Calibration, *, types: bool) -> str:
    """The scores, a line for each decile, and with `types` one for each type of rows."""
    held = io.StringIO()
    parts: list[Table | str] = [_scores(found.scores)]
    if found.lawless is not None:
        parts = [f"under the law    {parts[0]}", f"without the law  {_scores(found.lawless)}"]
    parts += ["", _deciles(found.scores)]
    if found.lawless is not None:
        parts += ["", "without the law", _deciles(found.lawless)]
    if types:
        parts += ["", _types(found) if found.types else "rows of GROUP BY have no types"]
    print_page(parts, held, page_width(held, _WIDTH))
    return held.getvalue()


def _scores(scores: Scores) -> str:
    return (
        f"Brier score {_number(scores.brier)}, log score {_number(scores.log_score)}, "
        f"calibration error {_number(scores.calibration_error)}, worst gap {_number(scores.worst)}"
    )


def calibration_summary(found: Calibration) -> str:
    """What the scores are about, in one line."""
    seeds = "" if found.repeat == 1 else f" with {found.repeat:,} seeds"
    law = "" if found.law is None else f" and the law of order of each {found.law}"
    beyond = f", {found.beyond:,} too much work under the law" if found.beyond else ""
    return (
        f"{counted(found.rows, 'row')} under {found.blur}{seeds}{law}: {found.open:,} open, "
        f"{found.certain:,} certain, {found.tied:,} tied in truth and left out{beyond}"
    )


def impossible_text(found: Calibration) -> str:
    """What is said where rows came out as they cannot."""
    return (
        f"{counted(found.impossible_happened, 'row')} came out that cannot: certain ones that did not "
        "happen, or others that did; this is a defect of cepctl, unless the query reads `lower` or `upper`, "
        "which a blur changes"
    )


def _deciles(scores: Scores) -> Table:
    names = ("rows", "stated", "happened", "gap")
    table = plain_table("stated between", *names, "95 % of happened", numbers=names)
    for each in scores.deciles:
        between = f"{each.from_:.1f} and {each.to:.1f}"
        if each.stated is None or each.happened is None:
            table.add_row(between, "0")
            continue
        gap = f"{each.happened - each.stated:+.{_DECIMALS}f}"
        interval = f"{_number(each.low)} to {_number(each.high)}"
        cells = f"{each.rows:,}", _number(each.stated), _number(each.happened), gap, interval
        table.add_row(between, *cells)
    return table


def _types(found: Calibration) -> Table:
    places = max(len(each.steps) for each in found.types)
    steps = ("first", "second") if places == 2 else tuple(f"event {at}" for at in range(1, places + 1))
    names = ("rows", "stated", "happened", "gap")
    table = plain_table(*steps, *names, numbers=names)
    for each in found.types:
        shown = (*each.steps, *[""] * (places - len(each.steps)))
        gap = f"{each.happened - each.stated:+.{_DECIMALS}f}"
        table.add_row(*shown, f"{each.rows:,}", _number(each.stated), _number(each.happened), gap)
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.{_DECIMALS}f}"
