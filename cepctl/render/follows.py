"""A directly-follows graph as a table, CSV, DOT (Graphviz) or Mermaid."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any, TextIO

from cepctl.render.counting import counted
from cepctl.render.pages import page_width, plain_table, print_page

if TYPE_CHECKING:
    from cepctl.inspection.follows.graph import FollowsGraph

FORMS = ("table", "csv", "dot", "mermaid")
_PIPE_WIDTH = 160
_NUMBERS = ("least", "expected", "greatest")


def follows_text(graph: FollowsGraph, form: str) -> str:
    """The graph in one of FORMS."""
    if form == "table":
        held = io.StringIO()
        print_follows(graph, held)
        return held.getvalue()
    if form == "csv":
        return str(graph.rows.write_csv())
    return _dot(graph) if form == "dot" else _mermaid(graph)


def print_follows(graph: FollowsGraph, file: TextIO | None = None) -> None:
    """Print the graph as a table; errors and bounds only where there are some."""
    file = file or sys.stdout
    estimated, bounded = bool((graph.rows["expected_error"] > 0).any()), bool(graph.rows["bounds"].any())
    beside = (["off by at most"] if estimated else []) + (["least and greatest"] if bounded else [])
    table = plain_table("type", "followed by", *_NUMBERS, *beside, numbers=(*_NUMBERS, "off by at most"))
    for row in graph.rows.to_dicts():
        cells = [row["a"], row["b"], f"{row['least']:,}", _average(row["expected"]), f"{row['greatest']:,}"]
        cells += [_average(row["expected_error"])] if estimated else []
        cells += [("bounds" if row["bounds"] else "exact")] if bounded else []
        table.add_row(*cells)
    print_page([table], file, page_width(file, _PIPE_WIDTH))


def follows_summary(graph: FollowsGraph) -> str:
    """What the graph was made of, in one line."""
    line = (
        f"{counted(len(graph.rows), 'pair')} of types in {counted(graph.cases, 'case')} of "
        f"{counted(graph.events, 'event')}, {graph.overlapping:,} of them in no certain order"
    )
    if graph.estimated:
        line += (
            f"; {counted(graph.estimated, 'stretch', 'stretches')} with too many of these "
            f"{'is' if graph.estimated == 1 else 'are'} estimated, "
            "off by more than stated with a probability of at most 1e-06 each"
        )
    return line


def follows_facts(graph: FollowsGraph) -> dict[str, Any]:
    """All of it as JSON has it."""
    return {
        "cases": graph.cases,
        "events": graph.events,
        "overlapping": graph.overlapping,
        "estimated": graph.estimated,
        "pairs": graph.rows.to_dicts(),
    }


def _average(value: float) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".") if value >= 0.001 or not value else f"{value:.2g}"


def _label(row: dict[str, Any]) -> str:
    """`12` where it is certain, else `10.3 (8 to 13)`."""
    if row["least"] == row["greatest"]:
        return f"{row['least']:,}"
    return f"{_average(row['expected'])} ({row['least']:,} to {row['greatest']:,})"


def _types(graph: FollowsGraph) -> list[str]:
    return sorted({*graph.rows["a"].to_list(), *graph.rows["b"].to_list()})


def _dot(graph: FollowsGraph) -> str:
    quoted = {each: '"' + each.replace("\\", "\\\\").replace('"', '\\"') + '"' for each in _types(graph)}
    lines = [
        "digraph follows {",
        "  rankdir=LR;",
        "  node [shape=box];",
        *(f"  {each};" for each in quoted.values()),
    ]
    for row in graph.rows.to_dicts():
        style = "" if row["least"] else ", style=dashed"
        lines.append(f'  {quoted[row["a"]]} -> {quoted[row["b"]]} [label="{_label(row)}"{style}];')
    return "\n".join([*lines, "}"]) + "\n"


def _mermaid(graph: FollowsGraph) -> str:
    names = {each: f"t{number}" for number, each in enumerate(_types(graph))}
    lines = ["flowchart LR", *(f'  {name}["{_entities(each)}"]' for each, name in names.items())]
    for row in graph.rows.to_dicts():
        arrow = "-->" if row["least"] else "-.->"
        lines.append(f'  {names[row["a"]]} {arrow}|"{_label(row)}"| {names[row["b"]]}')
    return "\n".join(lines) + "\n"


def _entities(text: str) -> str:
    """Text in which nothing is a mark of Mermaid's."""
    plain = text.isascii() and text.replace(" ", "").replace("_", "").isalnum()
    return (
        text
        if plain
        else "".join(each if each.isalnum() or each in " _" else f"#{ord(each)};" for each in text)
    )
