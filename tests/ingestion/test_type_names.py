"""Event types get the names that the user gave, whatever the format, and all at once."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cepctl.errors import UsageError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.type_names import TypeNames, check_names
from cepctl.io.contract.reader import ReadOptions

GANGLIA = """<GANGLIA_XML VERSION="3.1.7" SOURCE="gmond"><CLUSTER NAME="c" LOCALTIME="100" OWNER="" URL="">
<HOST NAME="n7" IP="" REPORTED="100" TN="0">
<METRIC NAME="cpu_user" VAL="1" TYPE="float" TN="0" TMAX="60"/></HOST>
</CLUSTER></GANGLIA_XML>"""
XES = (
    '<log xmlns="http://www.xes-standard.org/"><trace><string key="concept:name" value="c1"/><event>'
    '<string key="concept:name" value="A"/><date key="time:timestamp" value="2024-05-01T10:00:00Z"/>'
    "</event></trace></log>"
)
LOG = "2024-05-01 10:00:00,123 INFO Job: it began\n"
CSV = "event_type,lower,upper\nA,1,2\nB,3,4\nA,5,6\n"


def types(folder: Path, text: str, names: TypeNames) -> list[str]:
    (folder / "log").write_text(text)
    out = folder / "events"
    ingest(
        [str(folder / "log")],
        str(out),
        IngestOptions(read=ReadOptions(keep_unmatched=True), type_names=names),
    )
    found: list[str] = pq.read_table(out / "part-00000.parquet").column("event_type").to_pylist()
    return found


@pytest.mark.parametrize(
    ("text", "old"),
    [
        (CSV.replace("B,3,4\nA,5,6\n", ""), "A"),
        (json.dumps({"event_type": "A", "lower": 1, "upper": 2}), "A"),
        (GANGLIA, "cpu_user"),
        (XES, "A"),
        (LOG, "LogLine"),
    ],
    ids=["csv", "jsonl", "ganglia", "xes", "log4j"],
)
def test_types_of_every_format_can_be_renamed(text: str, old: str, tmp_path: Path) -> None:
    assert types(tmp_path, text, ((old, "New"), ("other", "Other"))) == ["New"]


def test_two_types_can_be_swapped_and_two_can_become_one(tmp_path: Path) -> None:
    assert types(tmp_path, CSV, (("A", "B"), ("B", "A"))) == ["B", "A", "B"]
    (tmp_path / "more").mkdir()
    assert types(tmp_path / "more", CSV, (("A", "C"), ("B", "C"))) == ["C", "C", "C"]


def test_names_that_leave_open_what_a_type_is_called_are_refused() -> None:
    with pytest.raises(UsageError, match="--name A=: the new name is missing"):
        check_names((("A", " "),))
    with pytest.raises(UsageError, match="--name A=C: 'A' is to be called 'B' already"):
        check_names((("A", "B"), ("A", "C")))
    assert check_names((("A", " B"), ("A", "B"))) == (("A", "B"), ("A", "B"))
