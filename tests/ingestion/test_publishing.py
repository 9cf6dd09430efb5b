"""What `--overwrite` replaces: datasets of cepctl alone, and never without anything in their place."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.errors import UsageError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.publishing import refuse_existing
from cepctl.io.source.locations import Location
from cepctl.matching.inputs import read_events
from cepctl.schema import META_TIME_UNIT

ROOT = Path(__file__).parents[2]
# Dies after the first rename in the target's folder, where the filesystem cannot exchange names.
KILLED = """
import os, signal
from pathlib import Path
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.atomic import replacing
replacing.exchange = lambda one, other: False
rename = Path.rename
def dying(path, other):
    rename(path, other)
    os.kill(os.getpid(), signal.SIGKILL)
Path.rename = dying
ingest(["new.csv"], "events", IngestOptions(overwrite=True))
"""


def log(path: Path, event_type: str) -> str:
    path.write_text(f"event_type,time\n{event_type},1\n")
    return str(path)


def types(dataset: Path) -> list[str]:
    found: list[str] = read_events([str(dataset)]).column("event_type").to_pylist()
    return found


def refused(path: Path) -> None:
    refuse_existing(Location.of(str(path)), overwrite=True)


def write_part(folder: Path, metadata: dict[bytes, bytes] | None, name: str = "part-00000.parquet") -> None:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table({"x": [1]}).replace_schema_metadata(metadata), folder / name)
    (folder / "_SUCCESS").touch()


def test_the_output_of_spark_or_hadoop_is_not_replaced(tmp_path: Path) -> None:
    """It has a `_SUCCESS` as datasets have, and its parts are called as theirs."""
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "_SUCCESS").touch()
    (tmp_path / "words" / "part-r-00000").write_text("the 1\n")
    write_part(tmp_path / "frame", {b"org.apache.spark.version": b"4.0"})
    (tmp_path / "nothing").mkdir()
    (tmp_path / "nothing" / "_SUCCESS").touch()
    for name, foreign in (
        ("words", "part-r-00000"),
        ("frame", "part-00000.parquet"),
        ("nothing", "_SUCCESS"),
    ):
        with pytest.raises(
            UsageError, match=f"holds {foreign}, which cepctl has not written; move that away"
        ):
            refused(tmp_path / name)


def test_a_dataset_with_something_else_in_it_is_not_replaced(tmp_path: Path) -> None:
    ingest([log(tmp_path / "a.csv", "A")], str(tmp_path / "events"), IngestOptions())
    (tmp_path / "events" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"holds notes\.txt"):
        ingest([str(tmp_path / "a.csv")], str(tmp_path / "events"), IngestOptions(overwrite=True))


@pytest.mark.parametrize("lacking", ["", "_SUCCESS"])
def test_a_dataset_of_an_older_version_is_replaced_also_where_it_is_incomplete(
    tmp_path: Path, lacking: str
) -> None:
    """Every version has written the time unit into the metadata of the parts."""
    write_part(tmp_path / "events", {META_TIME_UNIT: b"1 ms"})
    (tmp_path / "events" / "._SUCCESS.crc").write_text("")
    (tmp_path / "events" / lacking).unlink() if lacking else None
    ingest([log(tmp_path / "a.csv", "A")], str(tmp_path / "events"), IngestOptions(overwrite=True))
    assert types(tmp_path / "events") == ["A"]


def test_where_a_link_leads_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    ingest([log(tmp_path / "a.csv", "A")], str(tmp_path / "real"), IngestOptions())
    (tmp_path / "events").symlink_to("real")
    ingest([log(tmp_path / "b.csv", "B")], str(tmp_path / "events"), IngestOptions(overwrite=True))
    assert (tmp_path / "events").is_symlink()
    assert types(tmp_path / "real") == ["B"]


@pytest.mark.parametrize("next_run", ["reads", "writes"])
def test_a_run_killed_between_two_renames_leaves_a_dataset(tmp_path: Path, next_run: str) -> None:
    ingest([log(tmp_path / "old.csv", "A")], str(tmp_path / "events"), IngestOptions())
    log(tmp_path / "new.csv", "B")
    done = subprocess.run(
        [sys.executable, "-c", KILLED], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "events").exists()
    if next_run == "writes":
        with pytest.raises(UsageError, match="exists; choose another output, or replace it with --overwrite"):
            ingest([str(tmp_path / "old.csv")], str(tmp_path / "events"), IngestOptions())
    assert types(tmp_path / "events") == ["B"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["events", "new.csv", "old.csv"]


def test_a_half_written_dataset_of_a_killed_run_is_removed_by_the_next(tmp_path: Path) -> None:
    left = tmp_path / ".events.partial-0123456789ab"
    (left / "chunks").mkdir(parents=True)
    (left / "cepctl.lock").touch()
    ingest([log(tmp_path / "a.csv", "A")], str(tmp_path / "events"), IngestOptions())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "events"]
