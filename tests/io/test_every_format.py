"""What holds for every format in the list: a new one is met here by itself, and what it lacks is named.

Small logs of all formats are in tests/small_logs.py.
"""

from __future__ import annotations

import codecs
import pickle
import tempfile
from pathlib import Path
from typing import Any

import pytest

from cepctl.ingestion.options import IngestOptions
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.reader import RAW_COLUMNS, ReadOptions, ReadReport
from cepctl.io.formats import format_named, known_formats, open_bytes, recognised_format
from tests.ingestion.test_parts import Log, assert_same_in_parts
from tests.reader_account import OPTIONS as KEPT
from tests.small_logs import SMALL_LOGS
from tests.state.test_news import Taking

DOCS = Path(__file__).parents[2] / "docs"
FORMATS = list(known_formats())
OF_LINES = [known.name for known in FORMATS if known.lines is not None]
# Asked of every reader, or not by the reader alone.
NOT_DECLARED = {"time_unit", "patterns", "templates", "modified", "strict", "sieve"}

every_format = pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)


def small_logs(name: str) -> list[bytes]:
    return [data for format_name, data in SMALL_LOGS.values() if format_name == name]


@every_format
def test_it_has_a_small_log_in_the_tests(known: LogFormat) -> None:
    assert small_logs(known.name), f"tests/small_logs.py has no log of the format '{known.name}'"


@every_format
def test_it_says_what_it_is_in_single_lines(known: LogFormat) -> None:
    told = (known.name, known.description, known.events, known.uncertainty)
    assert all(text.strip() == text != "" and "\n" not in text for text in told)


@every_format
def test_its_example_is_a_file_of_it_that_is_read_whole(known: LogFormat) -> None:
    if known.example.startswith("(binary) "):
        return
    report, data = ReadReport(), known.example.encode()
    patterns = (LogPattern("Valve", r"\[(?P<time>.*)\]", (), None, ("time",)),)
    patterned = known.recognises_patterned is not None
    assert recognised_format(data, "x", patterned=patterned).name == known.name
    options = ReadOptions(patterns=patterns if patterned else ())
    with open_bytes(data, "x") as log:
        events = list(known.reader.read(log.stream, "x", options, report))
    assert (sum(map(len, events)) > 0, report.rejects, report.skipped) == (True, [], {})


@every_format
def test_its_page_tells_about_it(known: LogFormat) -> None:
    page = DOCS / known.page
    assert page.exists(), f"the format '{known.name}' names docs/{known.page}, which is not there"
    named = known.name in page.read_text(encoding="utf-8").lower()
    assert named, f"docs/{known.page} does not name the format '{known.name}'"


@every_format
def test_it_goes_to_workers_as_it_is(known: LogFormat) -> None:
    again = pickle.loads(pickle.dumps(known))
    assert (again.name, type(again.reader), again.repeats) == (known.name, type(known.reader), known.repeats)
    if known.lines is not None:
        records = known.lines(small_logs(known.name)[0], ReadOptions())
        assert pickle.loads(pickle.dumps(records)) == records


@every_format
def test_its_batches_are_those_of_the_contract(known: LogFormat) -> None:
    for data in small_logs(known.name):
        report = ReadReport()
        with open_bytes(data, "c/n7/load_one.log") as log:
            batches = list(known.reader.read(log.stream, "c/n7/load_one.log", KEPT, report))
        for batch in batches:
            assert {name: batch.schema.field(name).type for name in RAW_COLUMNS} == RAW_COLUMNS
        assert report.records > 0, f"the reader of '{known.name}' counts no records (ReadReport.records)"


class AskedOptions(ReadOptions):
    """Options that note which of them a reader looks at."""

    def __getattribute__(self, name: str) -> Any:
        if name in ReadOptions.__dataclass_fields__:
            asked.add(name)
        return super().__getattribute__(name)


asked: set[str] = set()


@every_format
def test_it_declares_the_options_that_its_reader_looks_at(known: LogFormat) -> None:
    """Some are not asked: they pass on a copy of their options, and so look at all of them."""
    if known.name in ("parquet", "json", "zeek"):
        return
    asked.clear()
    for data in small_logs(known.name):
        with open_bytes(data, "c/n7/load_one.log") as log:
            list(
                known.reader.read(
                    log.stream,
                    "c/n7/load_one.log",
                    AskedOptions(epoch=KEPT.epoch, patterns=KEPT.patterns),
                    ReadReport(),
                )
            )
    assert asked - NOT_DECLARED == set(known.options)


@pytest.mark.parametrize("name", OF_LINES)
def test_a_small_log_of_a_format_of_lines_is_read_alike_in_parts(name: str) -> None:
    for data in small_logs(name):
        assert_same_in_parts(Log(data, len(data) // 4, {"read": KEPT, "input_format": name}))


@pytest.mark.parametrize("name", OF_LINES)
def test_of_a_log_of_lines_that_grows_runs_take_every_record_once(name: str) -> None:
    of_lines = format_named(name).lines
    assert of_lines is not None
    # Not every shape of a format may be one of lines.
    data = next(each for each in small_logs(name) if of_lines(each, ReadOptions()) is not None)
    if data.startswith(codecs.BOM_UTF16_LE):  # a log that grows is UTF-8
        data = data.decode("utf-16").encode()
    records = of_lines(data, ReadOptions())
    assert records is not None
    begin = len(records.header)

    def taken(cuts: list[int]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "a.log")
            runs = Taking((str(log),), IngestOptions(name, read=KEPT, max_errors=10))
            found = []
            for first, last in zip([0, *cuts], [*cuts, len(data)], strict=True):
                with log.open("ab") as file:
                    file.write(data[first:last])
                found += runs.take()
            return sorted(found + runs.take(final=True))

    whole = taken([])
    assert len(whole) > 0
    third = (len(data) - begin) // 3
    assert taken([begin + third, begin + 2 * third]) == whole
