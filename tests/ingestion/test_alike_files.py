"""Small files that are read together give what each gives alone: the same dataset and account.

Files of random kinds of logs, of a few lines each, some of them damaged, are ingested twice: neighbours
together, and one by one.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cepctl.ingestion import bundles, writers
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.reading import read_file
from cepctl.ingestion.results import FileResult
from cepctl.ingestion.task import ReadTask
from cepctl.ingestion.written_units import KnownTimes
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.source.locations import InputFile, Location
from cepctl.runners.local import LocalRunner
from cepctl.uncertainty.model import UncertaintyModel
from tests.foreign_lines import FORMS, LineForm

_OWN = {
    "seconds": LineForm(
        "lines", "%Y-%m-%d %H:%M:%S INFO [w] x.Pool: task {n} of host h{n} took {ms} ms", 1_000_000
    ),
    "words": LineForm("lines", "%Y-%m-%dT%H:%M:%S.{us}Z [info] user ann{n} id {n} is in from 10.0.0.{n}", 1),
    "mixed": LineForm("lines", "%Y-%m-%d %H:%M:%S.{ms} id {n} of 007 is true", 1_000),
    "texts": LineForm("lines", "%Y-%m-%d %H:%M:%S.{ms} id x{n} of 1.5 is no", 1_000),
    "syslog": LineForm("lines", "%Y-%m-%d %H:%M:%S web{n} sshd[{n}]: Failed password for ann", 1_000_000),
}
_FORMS = FORMS | _OWN


def _cut(lines: list[str], draw: Random) -> None:
    lines[draw.randrange(len(lines))] = lines[0][: draw.randint(0, 30)]


def _foreign(lines: list[str], draw: Random) -> None:
    lines.insert(
        draw.randrange(len(lines) + 1), draw.choice(("  at x.Y", "", "2026-06-14 06:15 backup", "{}"))
    )


def _no_day(lines: list[str], draw: Random) -> None:
    lines[-1] = lines[-1].replace("-06-14 ", "-02-31 ").replace("-06-14T", "-02-31T")


def _no_fraction(lines: list[str], draw: Random) -> None:
    place = draw.randrange(len(lines))
    begin, point, rest = lines[place].partition(".")
    lines[place] = f"{begin} {rest.lstrip('0123456789')}" if point else lines[place]


def _reversed(lines: list[str], draw: Random) -> None:
    lines.reverse()


def _doubled(lines: list[str], draw: Random) -> None:
    lines += [lines[-1]] * draw.randint(1, 12)


def _accent(lines: list[str], draw: Random) -> None:
    lines[-1] += " é"


def _last_year(lines: list[str], draw: Random) -> None:
    lines[-1] = lines[-1].replace("2026-", "2024-")


DAMAGES: tuple[Callable[[list[str], Random], None], ...] = (
    *(_cut, _foreign, _no_day, _no_fraction, _reversed, _doubled, _accent, _last_year),
)


def small_file(draw: Random, form: LineForm) -> bytes:
    """A log of a few lines, perhaps damaged, or packed."""
    begin = draw.randrange(3_000)
    lines = [form.line(begin + number) for number in range(draw.randint(1, 12))]
    if draw.random() < 0.3:
        draw.choice(DAMAGES)(lines, draw)
    data = (form.header + "\n".join(lines)).encode() + draw.choice(
        (b"\n", b"\n", b"\n", b"", b"\r\n", b"\0\n")
    )
    return draw.choice((data, data, data, data, data, data, gzip.compress(data, mtime=0), b""))


def written_files(folder: Path, seed: int) -> None:
    """Files of two or three kinds of logs, mostly in runs of the same kind."""
    draw = Random(seed)
    kinds = [*draw.sample(list(_OWN), draw.randint(1, 2)), *draw.sample(list(FORMS), draw.randint(0, 1))]
    kind = kinds[0]
    folder.mkdir()
    for number in range(draw.randint(2, 14)):
        if draw.random() < 0.25:
            kind = draw.choice(kinds)
        data = small_file(draw, _FORMS[kind])
        path = folder / f"f{number:02}.log"
        path.write_bytes(data)


def outcome(folder: Path, output: Path, options: IngestOptions) -> dict[str, object]:
    """All that is said and written of some files."""
    try:
        summary = ingest([str(folder)], str(output), options, LocalRunner())
    except Exception as problem:
        return {"refused": f"{type(problem).__name__}: {problem}"}
    parts = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(output.iterdir())}
    return {"summary": summary, "parts": parts, "report": json.loads((folder.parent / "report").read_text())}


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepctl.runners.apart.can_fork", lambda: False)


@pytest.fixture
def one_by_one(in_this_process: None, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    def set_to(alone: bool) -> None:
        monkeypatch.setattr(bundles, "MOST_FILES", 1 if alone else 100)
        # Alone they are also looked at as large logs are, once for each thing that their order says.
        monkeypatch.setattr(writers, "_FEW_ROWS", 0 if alone else 1_000)

    return set_to


def _options(seed: int, report: Path) -> IngestOptions:
    read = ReadOptions(exact_times=seed % 5 == 0, time_zone="Europe/Berlin" if seed % 7 == 0 else None)
    named: tuple[()] | None = () if seed % 6 == 0 else None
    return IngestOptions(read=read, report=str(report), max_errors=10_000, writers=named)


@pytest.mark.parametrize("begin", [0, 40])
def test_files_that_are_read_together_give_what_each_gives_alone(
    begin: int, tmp_path: Path, one_by_one: Callable[[bool], None]
) -> None:
    for seed in range(begin, begin + 10):
        assert_same(seed, tmp_path / str(seed), one_by_one)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 2_100, 200))
def test_two_thousand_mixes_of_files_that_are_read_together(
    first: int, tmp_path: Path, one_by_one: Callable[[bool], None]
) -> None:
    for seed in range(first, first + 200):
        assert_same(seed, tmp_path / str(seed), one_by_one)


def assert_same(seed: int, scratch: Path, one_by_one: Callable[[bool], None]) -> None:
    """Some files give the same together and alone."""
    scratch.mkdir()
    folder = scratch / "logs"
    written_files(folder, seed)
    options = _options(seed, scratch / "report")
    one_by_one(True)
    alone = outcome(folder, scratch / "alone", options)
    one_by_one(False)
    together = outcome(folder, scratch / "together", options)
    assert together == alone, seed


@pytest.mark.parametrize("form", ["seconds", "words", "ZooKeeper"])
@pytest.mark.parametrize("named", [None, ()])
def test_files_of_one_line_give_together_what_each_gives_alone(
    form: str, named: tuple[()] | None, tmp_path: Path, one_by_one: Callable[[bool], None]
) -> None:
    """Also where some of them are of one second: the order of lines says nothing of several files."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(30):
        (folder / f"f{number:02}.log").write_text(_FORMS[form].line(number // 3) + "\n")
    found = []
    for alone in (True, False):
        one_by_one(alone)
        options = IngestOptions(report=str(tmp_path / "report"), writers=named)
        found.append(outcome(folder, tmp_path / str(alone), options))
    assert found[0] == found[1]
    assert "refused" not in found[0]


@pytest.fixture
def read_alone(in_this_process: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files that are read alone."""
    names: list[str] = []
    read = read_file

    def reading(task: ReadTask) -> FileResult:
        names.append(task.file.name)
        return read(task)

    monkeypatch.setattr("cepctl.ingestion.alike_files.read_file", reading)
    return names


def test_files_of_one_form_are_read_together(tmp_path: Path, read_alone: list[str]) -> None:
    for number in range(7):
        lines = [_OWN["words"].line(20 * number + each) for each in range(5)]
        (tmp_path / f"f{number}.log").write_text("\n".join(lines) + "\n")
    (tmp_path / "g.log").write_text(_OWN["seconds"].line(3) + "\n")
    ingest([str(tmp_path)], str(tmp_path / "events"), IngestOptions(), LocalRunner())
    assert set(read_alone) == {"g.log"}  # once more in finer ticks


def test_a_file_that_cannot_be_read_with_the_others_is_read_alone(
    tmp_path: Path, read_alone: list[str]
) -> None:
    for number in range(8):
        day = "31" if number == 5 else "14"
        (tmp_path / f"f{number}.log").write_text(
            f"2026-06-{day} 06:15:04 INFO [w] x.Pool: task {number}\n" * 3
        )
    summary = ingest([str(tmp_path)], str(tmp_path / "events"), IngestOptions(max_errors=9), LocalRunner())
    assert read_alone == ["f4.log", "f5.log"]
    assert (summary.events, summary.rejected) == (21, {"no time": 3})


class DeadlyRunner(LocalRunner):
    """Runs tasks here; a bundle with the file f3.log kills its process."""

    def run(self, function: Any, tasks: Any, died: Any = None, *_: Any, **__: Any) -> list[Any]:
        deadly = [any(task.file.name == "f3.log" for task in bundle) for bundle in tasks]
        return [
            died(bundle, "SIGSEGV") if dies else function(bundle)
            for bundle, dies in zip(tasks, deadly, strict=True)
        ]


def test_a_bundle_that_kills_its_process_costs_the_file_alone_that_does(tmp_path: Path) -> None:
    texts = [_OWN["seconds"].line(number).encode() for number in range(6)]
    tasks = []
    for number, text in enumerate(texts):
        (tmp_path / f"f{number}.log").write_bytes(text)
        file = InputFile(Location.of(str(tmp_path / f"f{number}.log")), f"f{number}.log", size=len(text))
        options = (Location.of(str(tmp_path)), ReadOptions(), UncertaintyModel(), KnownTimes())
        tasks.append(ReadTask(file, number, *options, in_arrow=True))
    assert [len(bundle) for bundle in bundles.in_bundles(tasks)] == [6]

    def read(bundle: Sequence[ReadTask]) -> list[str]:
        return [task.file.name for task in bundle]

    found = bundles.results_of(DeadlyRunner(), read, tasks, lambda task, cause: f"{task.file.name}: {cause}")
    assert list(found) == ["f0.log", "f1.log", "f2.log", "f3.log: SIGSEGV", "f4.log", "f5.log"]


def test_ten_times_as_many_small_files_cost_ten_times_as_much(tmp_path: Path, in_this_process: None) -> None:
    spent = []
    for count in (50, 500):
        folder = tmp_path / str(count)
        folder.mkdir()
        for number in range(count):
            lines = [_OWN["words"].line(10 * number + each) for each in range(10)]
            (folder / f"f{number:04}.log").write_text("\n".join(lines) + "\n")
        begin = time.process_time()
        ingest([str(folder)], str(tmp_path / f"events{count}"), IngestOptions(), LocalRunner())
        spent.append(time.process_time() - begin)
    assert spent[1] < 15 * spent[0] + 1
