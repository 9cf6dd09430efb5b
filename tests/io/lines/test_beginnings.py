"""Where the message of a line begins is what the groups of its whole expression say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cepctl.io.lines.beginnings import BeginningsOf
from cepctl.io.lines.local_times import written_times
from cepctl.io.lines.recognition import layout_of
from cepctl.io.log4j.records import line_bounds

LOG4J = [f"2026-06-14 08:15:{n:02},978 - INFO  [main:Gate@{n}] - badge {n} is in" for n in range(20)]
TRACE = ["java.io.IOException: no answer", "\tat Gate.read(Gate.java:7)", ""]
ZONES = [
    f"2026-06-14 08:15:0{n % 10}{zone} door {n}"
    for n, zone in enumerate(
        ["", " MST", " MSTX", "Z", " Z", " Zoe", "+0200", " -07", " -070", " UTC", " GMT:"]
    )
]
BEFORE = [f"[INFO] node{'x' * (n % 3)} 2026-06-14T08:15:0{n % 10}.5 door {n}" for n in range(20)]
FAR = [f"one more of all the many workers of the {n} said at 2026-06-14 08:15:04 no" for n in range(20)]
SHORT = [f"{n}:15:04 worker ü{n} is up" for n in (8, 9, 10, 23)]


@pytest.mark.parametrize("lines", [LOG4J + TRACE + ZONES, ZONES, BEFORE + TRACE, FAR, SHORT])
def test_lines_are_parted_as_groups_part_them(lines: list[str]) -> None:
    layout = layout_of(lines)
    assert layout is not None
    block = "".join(f"{line}\n" for line in lines).encode()
    starts, ends = line_bounds(block)
    strings = pa.array([f"{line}\n" for line in lines])
    headed, timed = (
        pc.extract_regex(strings, each.parted) for each in (layout.with_heading, layout.with_time)
    )
    before, time, behind = (
        pc.if_else(headed.is_valid(), *(pc.binary_length(found.field(name)) for found in (headed, timed)))
        for name in ("_before", "_time", "_behind")
    )
    rows = np.flatnonzero(pc.or_(headed.is_valid(), timed.is_valid()))
    found = BeginningsOf(layout)(block, starts, ends)
    assert found.line.tolist() == rows.tolist()
    first, second, third = (each.to_numpy()[rows].astype(np.int64) for each in (before, time, behind))
    message = starts[rows] + (0 if layout.whole else first + second + third)
    assert found.message.tolist() == message.tolist()
    assert BeginningsOf(layout, messages=True)(block, starts, ends).message.tolist() == message.tolist()
    times = written_times(block, starts[rows] + first, second, layout.stamp)
    assert found.times.local.tolist() == times.local.tolist()
    assert found.times.zone_seconds.tolist() == times.zone_seconds.tolist()
