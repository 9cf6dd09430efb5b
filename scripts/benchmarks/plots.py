"""One picture for each part that has curves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from results import Part, Row


def write_plot(folder: Path, part: Part, rows: Sequence[Row]) -> None:
    """Write NAME.png; nothing where the part has no curve.  Needs Matplotlib."""
    if part.plot is None:
        return
    curves: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        figure = _figure(part, row)
        if row.series and row.x is not None and figure is not None:
            curves[row.series].append((row.x, figure))
    if not curves:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawing, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for name, points in curves.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=name)
    if part.plot.logarithmic:
        axes.set_yscale("log")
    axes.set(title=part.title, xlabel=part.plot.x, ylabel=part.plot.y)
    axes.grid(alpha=0.3)
    axes.legend()
    drawing.savefig(folder / f"{part.name}.png", dpi=120)
    pyplot.close(drawing)


def _figure(part: Part, row: Row) -> float | None:
    assert part.plot is not None
    if part.plot.y == "ratio":
        return row.ratio
    if row.timing is None:
        return None
    return row.timing.seconds if part.plot.y == "seconds" else 1e6 * row.seconds_each
