"""Peak memory of a search whose matches are far more than its events."""

from __future__ import annotations

from collections.abc import Iterator

from judge import RECORDED
from measuring import in_process, once
from results import Goal, Row, Setup, check_close, check_equal
from workloads import FIVE_PERCENT, appendix_c, stored

MOST_MEGABYTES = 1536


def memory(setup: Setup) -> Iterator[Row]:
    """Matches stream out of a process of its own at d = 50."""
    size = setup.events(1_000_000, 100_000)
    path = stored(setup.folder, "appendix_c_50", appendix_c(size, 50))
    timing, told = once(lambda: in_process("streaming.py", path))
    (count, total), (later_count, later_total) = RECORDED[FIVE_PERCENT, 50]
    cycles = size / 1000 - 1
    check_equal("streamed matches", told["rows"], round(count + cycles * (later_count - count)))
    check_close("streamed confidence", told["total"], total + cycles * (later_total - total))
    yield Row(
        "3 components, d = 50, streamed", timing, told["rows"], ratio=told["peak"] / MOST_MEGABYTES,
        against="peak memory over 1.5 GB", goal=Goal("at most", 1), checked="count and sum",
        note=f"peak {told['peak']:,.0f} MB, {told['before']:,.0f} MB of it with the events alone",
    )  # fmt: skip
