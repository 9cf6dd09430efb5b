"""Messages up to their first line end, which is what templates are of."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def of_several_lines(messages: pa.Array) -> bool:
    """Whether some message has a line end; few logs have any, and to look for one in all bytes is fastest."""
    data = messages.buffers()[2]
    if data is None or b"\n" not in data.to_pybytes():
        return False
    # The bytes may be those of a text of which the messages are parts.
    return bool(pc.any(pc.match_substring(messages, "\n")).as_py())


def first_lines(messages: pa.Array) -> pa.Array:
    """Messages up to their first line end."""
    if not of_several_lines(messages):
        return messages
    return pc.replace_substring_regex(messages, r"(?s)\n.*", "")
