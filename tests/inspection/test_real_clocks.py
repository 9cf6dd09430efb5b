"""Clocks that Rumen's traces prove wrong, held to twenty lines that read the JSON themselves."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from cepctl.inspection.overview import inspect_events
from cepctl.matching.inputs import open_events

pytestmark = pytest.mark.realdata


def bounds_by_script(folder: Path) -> dict[str, tuple[int, int]]:
    """Per host the least and the greatest offset in milliseconds."""
    bounds: dict[str, tuple[int, int]] = {}
    for file in folder.iterdir():
        content = file.read_bytes()
        text = (gzip.decompress(content) if file.suffix == ".gz" else content).decode().strip()
        while text:
            job, end = json.JSONDecoder().raw_decode(text)
            text = text[end:].strip()
            for task in [task for kind in ("map", "reduce", "other") for task in job.get(f"{kind}Tasks", ())]:
                for attempt in task["attempts"]:
                    times = [row[f"{edge}Time"] for row in (task, attempt) for edge in ("start", "finish")]
                    if attempt["result"] == "SUCCESS" and min(times) > 0:
                        host = attempt["hostName"].rpartition("/")[2].replace("\\", "")
                        least, most = bounds.get(host, (-(10**15), 10**15))
                        bounds[host] = max(least, times[3] - times[1]), min(most, times[2] - times[0])
    return bounds


def test_the_hosts_that_are_provably_skewed_are_those_of_an_independent_script(real_logs: Path) -> None:
    folder = real_logs / "hadoop" / "rumen"
    if not folder.exists():
        pytest.skip("CEPCTL_REALDATA has no traces of Rumen")
    expected = bounds_by_script(folder)
    with open_events([str(folder)]) as inputs:
        clocks = inspect_events(inputs).clocks
    found = {c.node: (c.lowest_microseconds // 1_000, c.highest_microseconds // 1_000) for c in clocks}
    assert found == expected
    skewed = {host for host, (least, most) in expected.items() if most < 0 or least > 0}
    assert {clock.node for clock in clocks if clock.provably_skewed} == skewed
    assert (len(skewed), len(expected)) == (40, 198)
