"""The page of a calibration: its scores, the picture of its deciles, and the types of rows, worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepctl import __version__
from cepctl.render.pictures.document import title_of
from cepctl.render.pictures.page import CALIBRATION, page_html
from cepctl.schema import TimeUnit, tick_text

if TYPE_CHECKING:
    from cepctl.calibration.result import Calibration, ShownRow
    from cepctl.calibration.rows import ShownEvent
    from cepctl.calibration.scores import Decile, Scores


def calibration_page(found: Calibration) -> str:
    """One HTML page, which needs no network."""
    return page_html(calibration_document(found), CALIBRATION)


def calibration_document(found: Calibration) -> dict[str, Any]:
    """What the page holds; times are texts."""
    scores = found.scores
    grouped = bool(found.shown) and not found.types
    types: list[dict[str, Any]] = [
        {"steps": list(each.steps), "rows": each.rows, "stated": each.stated, "happened": each.happened}
        for each in found.types[: len(found.shown)]
    ]
    if grouped:
        types = [{"steps": [], "rows": found.open, "stated": None, "happened": scores.happened}]
    shown = [[_row(row, found.unit) for row in rows] for rows in found.shown]
    return {
        "version": __version__,
        "query": found.query,
        "title": None if found.query is None else title_of(found.query),
        "blur": found.blur,
        "seed": found.seed,
        "repeat": found.repeat,
        "rows": found.rows,
        "open": found.open,
        "tied": found.tied,
        "certain": found.certain,
        "impossible": found.impossible_happened,
        **_scored(scores),
        "law": found.law,
        "beyond": found.beyond,
        "lawless": None if found.lawless is None else _scored(found.lawless),
        "types": [each | {"shown": rows} for each, rows in zip(types, shown, strict=True)],
        "typeCount": len(found.types),
    }


def _scored(scores: Scores) -> dict[str, Any]:
    return {
        "brier": scores.brier,
        "logScore": scores.log_score,
        "calibrationError": scores.calibration_error,
        "worst": scores.worst,
        "deciles": [_decile(each) for each in scores.deciles],
    }


def _decile(decile: Decile) -> list[float | int | None]:
    return [
        *(decile.from_, decile.to, decile.rows, decile.stated),
        *(decile.happened, decile.low, decile.high),
    ]


def _row(row: ShownRow, unit: TimeUnit) -> list[Any]:
    return [row.seed, row.stated, row.happened, [_event(each, unit) for each in row.events]]


def _event(event: ShownEvent, unit: TimeUnit) -> list[str]:
    ticks = (event.tick, event.lower, event.upper)
    return [event.event_id, event.step, *(tick_text(tick, unit) for tick in ticks)]
