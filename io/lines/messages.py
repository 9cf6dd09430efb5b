"""What the messages of log records say: their first lines, and what stands in the ending that a log has."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.lines.recognition import LineLayout


def of_several_lines(message: pa.Array) -> bool:
    """Whether some message has a line end; few logs have any, and to look for one in all bytes is fastest."""
    data = message.buffers()[2]
    if data is None or b"\n" not in data.to_pybytes():
        return False
    # The bytes may be those of a text of which the messages are parts.
    return bool(pc.any(pc.match_substring(message, "\n")).as_py())


def first_lines(message: pa.Array) -> pa.Array:
    """Messages up to their first line end."""
    if not of_several_lines(message):
        return message
    return pc.replace_substring_regex(message, r"(?s)\n.*", "")


def without_ending(layout: LineLayout, message: pa.Array) -> tuple[pa.Array, dict[str, pa.Array]]:
    """The first lines of messages without the ending that the log has, and the attributes in that."""
    lines, ending = first_lines(message), layout.heading.ending
    if ending is None:
        return lines, {}
    found = pc.extract_regex(lines, ending)
    return pc.replace_substring_regex(lines, ending, ""), {
        each.name: found.field(each.name) for each in found.type
    }
