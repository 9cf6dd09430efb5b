"""Every format that knows what lasts says start and end; the model gives them a length and a clock."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from cepctl.cli import main
from cepctl.io.formats import known_formats
from tests.small_logs import SMALL_LOGS

MODEL = """time_unit = "1 ms"
[[rule]]
interval = { before = "1 s", after = "1 s" }
end = { before = "2 s", after = "3 s" }
length = { before = "7 ms", after = "8 ms" }
clock = { name = "all", offset = "10 ms" }
"""
LASTING = {  # what lasts in the small log of each
    "jhist": {"TaskAttempt"},
    "jhist1": {"Job", "Task", "TaskAttempt"},
    "rumen": {"Job", "Task", "TaskAttempt"},
    "sls": {"Job", "TaskAttempt"},
    "spark": {"Task"},
    "otlp": {"Span"},
    "jaeger": {"Span"},
    "zipkin": {"Span"},
    "xes, unusual": {"A", "B"},
    "json, Kubernetes": {"BackOff"},
    "chrome-trace": {"load", "parse"},
    "zeek": {"ssh"},
    "mysql-slow": {"Query"},
    "csv": {"B"},
}


def test_these_are_all_formats_with_the_option() -> None:
    told = {each.name for each in known_formats() if "intervals" in each.options}
    assert told == {name.split(",")[0] for name in LASTING} - {"csv"}


@pytest.mark.parametrize("name", LASTING)
def test_what_lasts_has_a_start_an_end_a_length_and_a_clock(name: str, tmp_path: Path) -> None:
    log, model, out = tmp_path / "log", tmp_path / "model.toml", tmp_path / "out"
    log.write_bytes(SMALL_LOGS[name][1])
    model.write_text(MODEL)
    options = ["--runner", "local", "--quiet", "--uncertainty", str(model)]
    assert main(["ingest", str(log), "-o", str(out), "--intervals", *options]) == 0
    rows = pq.read_table(out)
    lasting = rows.filter(pc.is_valid(rows.column("end_lower")))
    assert set(lasting.column("event_type").to_pylist()) == LASTING[name]
    for row in lasting.to_pylist():
        start, end = (int(row[each].timestamp() * 1000) for each in ("time", "end_time"))
        assert row["lower"] <= start - 1_010 < start + 1_010 <= row["upper"]
        assert row["end_lower"] <= end - 2_010 < end + 3_010 <= row["end_upper"]
        assert row["length_lower"] <= max(end - start - 7, 0) <= end - start + 8 <= row["length_upper"]
        assert row["clock"] == "all"
