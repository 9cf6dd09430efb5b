"""The layout of a log as text, by which parts of it and what is appended later are read as the whole is."""

from __future__ import annotations

import json

from cepctl.io.lines.headings import ANY, HEADINGS
from cepctl.io.lines.recognition import LineLayout
from cepctl.io.lines.stamps import stamp_named

HELD = "cepctl.lines"
"""The name under which `ReadReport.time_forms` has it."""
_LISTS = ("others", "beginnings", "dates")


def layout_text(layout: LineLayout) -> str:
    """A layout as `layout_in` reads it."""
    fields = ("before", "lines", "timed", "headed", "whole", "quoted", *_LISTS)
    names = {"stamp": layout.stamp.name, "heading": layout.heading.name}
    return json.dumps(names | {name: getattr(layout, name) for name in fields}, ensure_ascii=False)


def layout_in(text: str) -> LineLayout:
    """What `layout_text` wrote; raises KeyError where another version did, with names that there are no more.

    Examples
    --------
    >>> layout = LineLayout(stamp_named("MM-DD hh:mm:ss"), ANY, "", 3, 3, 0, (("YYYY-MM-DD hh:mm", 1),))
    >>> layout_in(layout_text(layout)) == layout
    True
    """
    said = json.loads(text)
    headings = {heading.name: heading for heading in (*HEADINGS, ANY)}
    said["stamp"], said["heading"] = stamp_named(said["stamp"]), headings[said["heading"]]
    said["others"] = tuple((name, lines) for name, lines in said["others"])
    said |= {name: tuple(said[name]) for name in ("beginnings", "dates")}
    return LineLayout(**said)
