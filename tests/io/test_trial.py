"""Each refusal that offers an option says what the option would yield, and it does yield that."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from cepctl.cli import main

CSV = "kind,{},door\nopen,{},1\nclose,{},1\n"
REFUSED = {
    "columns.csv": CSV.format("when", "2026-03-04 12:00:01", "2026-03-04 12:00:05"),
    "blanks.csv": CSV.format("happened at", "2026-03-04 12:00:01", "2026-03-04 12:00:05"),
    "days.csv": "event_type,time\nopen,03/04/2026 12:00:01\nclose,03/04/2026 12:00:05\n",
    "days.log": "03/04/2026 12:00:01 till 2 opened\n03/04/2026 12:00:07 till 2 closed\n",
    "days.jsonl": '{"msg": "door 1 open", "time": "03/04/2026 12:00:01"}\n'
    '{"msg": "door 2 shut", "time": "03/04/2026 12:00:05"}\n',
    "mixed.jsonl": '{"seen": "2026-06-14T08:15:04Z", "op": "x"}\n{"op": "y"}\n{"op": "y"}\n',
    "commas.jsonl": '{"seen, at": "2026-06-14", "kind": "x"}\n{"seen, at": "2026-06-15", "kind": "y"}\n',
    "gc.log": "0.345: [GC 33280K->5104K(125952K), 0.0061 secs]\n12.345: [Full GC 3K->2K(9K), 0.0012 secs]\n",
    "units.csv": "event_type,time\nopen,20260304\nclose,20260305\n",
}
OFFERED = re.compile(
    r"(--map '[^']+'|--map \S+(?: --time-format '[^']+')?|--time-format '[^']+'|--epoch \S+|--epoch-unit \w+)"
)
YIELD = re.compile(r"\(with (?:it|the first of them) (\d+) of its first (\d+) records would become")


@pytest.mark.parametrize("name", REFUSED)
def test_the_option_that_is_offered_gives_as_many_events_as_is_said(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = tmp_path / name, str(tmp_path / "e")
    log.write_text(REFUSED[name])
    assert main(["ingest", str(log), "-o", out, "--runner", "local"]) == 3
    told = capsys.readouterr().err
    offered, said = OFFERED.search(told), YIELD.search(told)
    assert offered is not None, told
    assert said is not None, told
    assert "Traceback" not in told
    given = ["ingest", str(log), "-o", out, "--runner", "local", *shlex.split(offered[0].rstrip(","))]
    assert main([*given, "--max-errors", "5"]) == 0
    assert f"{said[1]} event" in capsys.readouterr().err


def test_what_cannot_be_tried_is_refused_as_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert main(["ingest", str(tmp_path / "x.csv"), "-o", str(tmp_path / "e")]) == 3
    told = capsys.readouterr().err.strip()
    assert "--map event_type=a,time=TIME" in told
    assert "no option is sure to make events of it" in told


def test_a_name_with_a_quote_is_refused_as_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines from the middle of a document, whose first is taken for a header."""
    (tmp_path / "x.csv").write_text('   "start.ms": 7,\n   "container.end.ms": 9,\n   "priority": 20,\n')
    assert main(["ingest", str(tmp_path / "x.csv"), "-o", str(tmp_path / "e"), "--runner", "local"]) == 3
    assert "Traceback" not in capsys.readouterr().err
