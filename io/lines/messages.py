"""What the messages of log records say: their first lines, and what stands in the ending that a log has."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.lines.recognition import LineLayout
from cepctl.io.templates.first_lines import first_lines


def without_ending(layout: LineLayout, message: pa.Array) -> tuple[pa.Array, dict[str, pa.Array]]:
    """The first lines of messages without the ending that the log has, and the attributes in that."""
    lines, ending = first_lines(message), layout.heading.ending
    if ending is None:
        return lines, {}
    found = pc.extract_regex(lines, ending)
    return pc.replace_substring_regex(lines, ending, ""), {
        each.name: found.field(each.name) for each in found.type
    }
