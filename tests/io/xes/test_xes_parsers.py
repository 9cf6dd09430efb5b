"""Two parsers read XES logs, and nobody can tell which it was: the same events and the same report."""

from __future__ import annotations

import io
import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import strategies as st

from cepctl.errors import CepctlError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.xes.log import XesLog
from tests.engines.agreement import EXAMPLES, MANY_EXAMPLES, check
from tests.mutations import mutated
from tests.xes_documents import LOG, documents

SAMPLE = Path(__file__).parents[3] / "sample_data" / "logs" / "tickets.xes"
OPTIONS = (ReadOptions(), ReadOptions(time_zone="Europe/Berlin", intervals=True))


@dataclass(frozen=True)
class ReaderOutput:
    """Everything that a reader said but the texts of rejects, which each parser writes its way."""

    rows: list[dict[str, str]]
    records: int
    rejects: list[tuple[int | None, str]]
    warnings: list[str]
    error: str | None


def output_of(content: bytes, options: ReadOptions) -> ReaderOutput:
    report, rows, error = ReadReport(), [], None
    try:
        for batch in XesLog().read(io.BytesIO(content), "f", options, report):
            # As texts, since what is not a number does not equal itself.
            rows += [{k: repr(v) for k, v in row.items() if v is not None} for row in batch.to_pylist()]
    except CepctlError as problem:
        error = f"{type(problem).__name__}: {problem}"
    # Which tag damage is found at, and so its line, is up to the parser.
    rejects = [(None if "XML" in each.cause else each.line, each.cause) for each in report.rejects]
    # Damage is told as it is found, events that are none when their trace is read.
    rejects.sort(key=lambda reject: (reject[0] or 0, *reject[1:]))
    return ReaderOutput(rows, report.records, rejects, report.warnings, error)


def nothing_is_regular(*_: object) -> Generator[None, None, bytes]:
    """In place of expat: leaves the log to libxml2 before its first byte."""
    yield from ()
    return b""


def assert_parsers_agree(content: bytes, options: ReadOptions = OPTIONS[0]) -> None:
    found = output_of(content, options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cepctl.io.xes.log.read_regular", nothing_is_regular)
        expected = output_of(content, options)
    assert found == expected


def test_regular_and_irregular_logs_are_read_alike() -> None:
    check(
        st.tuples(documents(), st.sampled_from(OPTIONS)),
        lambda case: assert_parsers_agree(*case),
    )


def test_damaged_logs_are_read_alike() -> None:
    damaged = st.one_of(documents().flatmap(mutated), mutated(LOG))
    check(
        st.tuples(damaged, st.sampled_from(OPTIONS)), lambda case: assert_parsers_agree(*case), 2 * EXAMPLES
    )


@pytest.mark.parametrize("namespace", ["\nttp://www.xes-standard.org/", "%", "a b", "{", "x", "[::]"])
def test_a_namespace_that_is_no_address_is_no_damage(namespace: str) -> None:
    plain = re.sub(rb"<log[^>]*>", b"<log>", LOG, count=1)
    content = plain.replace(b"<log>", f'<log xmlns="{namespace}">'.encode())
    assert_parsers_agree(content)
    assert output_of(content, OPTIONS[0]) == output_of(plain, OPTIONS[0])


def test_an_event_that_was_rejected_before_the_damage_does_not_stand_for_it() -> None:
    timeless = LOG.replace(b'<date key="time:timestamp"', b'<date key="other"', 1)
    damaged = timeless[::-1].replace(b'>/"0020+', b'>\0"0020+', 1)[::-1]
    assert_parsers_agree(damaged)
    found = output_of(damaged, OPTIONS[0])
    assert found.rejects == [(None, "damaged XML, read as far as it goes"), (6, "no time")]
    assert (len(found.rows), found.records) == (5, 7)


def test_a_carriage_return_alone_does_not_move_the_line_of_the_damage() -> None:
    damaged = LOG.replace(b"<string", b"<string\r", 1).replace(b"<event><string", b"<event>\0string", 1)
    assert_parsers_agree(damaged)
    line = 1 + damaged.count(b"\n", 0, damaged.index(b"\0"))
    assert f"the first damage is at line {line}:" in output_of(damaged, OPTIONS[0]).warnings[0]


@pytest.mark.slow
def test_many_damaged_logs_are_read_alike() -> None:
    damaged = st.one_of(documents(), documents().flatmap(mutated), mutated(LOG))
    check(
        st.tuples(damaged, st.sampled_from(OPTIONS)), lambda case: assert_parsers_agree(*case), MANY_EXAMPLES
    )


@pytest.mark.parametrize("options", OPTIONS, ids=["points", "intervals"])
def test_a_log_cut_off_at_any_byte_is_read_alike(options: ReadOptions) -> None:
    for end in range(0, len(LOG), 3):
        assert_parsers_agree(LOG[:end], options)


@pytest.mark.parametrize(
    ("where", "what"),
    [
        ("</event>", '</event><string key="late" value="x"/>'),
        ("<trace>", "<trace><event/>"),
        ("</trace>", "</trace><trace/>"),
        ("</trace>", "</trace></trace>"),
        ("</trace>", "</trace><trace/></wrong>"),
        ("</trace>", "</trace><trace></trace></wrong>"),
        ("<event>", "<event><event>"),
        ("<event>", "<?instruction?><event>"),
        ("<event>", '<event xmlns:x="y"><x:string key="k" value="v"/>'),
        ("<event>", '<event><x:string key="k" value="v"/>'),
        ("<event>", '<event><string x:key="k" key="k" value="v"/>'),
        ("<event>", '<event xmlns="http://www.w3.org/2000/xmlns/">'),
        ("<event>", '<event odd=">\n"></wrong>'),
        ("<event>", '<event><string key="k" value="1"/><string key="k" value="2"/>'),
        ("<event>", '<event><string key="k" value="&unknown;"/>'),
        ("<event>", "<event>&unknown;"),
        ("<event>", '<event><größe key="k" value="1"/>'),
        ("<log ", '<!DOCTYPE log SYSTEM "x.dtd"><log odd="&unknown;" '),
        ("<log ", '<log xmlns:x="" '),
        ("<log ", "<!-- <log> --><log "),
        ("<log ", '<log xmlns:x="relative" '),
        ("<global", '<trace/><string key="k" value="1"></string><global'),
    ],
)
def test_what_is_not_regular_is_read_as_libxml2_reads_it(where: str, what: str) -> None:
    text = LOG.decode()
    for place in {text.index(where), text.rindex(where)}:
        assert_parsers_agree((text[:place] + what + text[place + len(where) :]).encode())


@pytest.mark.parametrize(
    "content",
    [
        LOG.partition(b"\n")[2].decode().encode("utf-16"),
        LOG.partition(b"\n")[2].decode().encode("utf-16")[:-333],
        LOG.replace(b"<log", b'<!DOCTYPE log SYSTEM "x.dtd"><log').replace(b'"B"', b'"B &unknown; B"'),
        b"\xef\xbb\xbf" + LOG.decode().replace("UTF-8", "ISO-8859-1").replace('"A"', '"é"').encode(),
        LOG.decode().replace("UTF-8", "ISO-8859-1").replace('"A"', '"é\x85"').encode("latin-1"),
        LOG.replace(b"\n", b"\r\n"),
        b"\n\n" + LOG.partition(b"\n")[2].replace(b"2015-10-25T02:30:00", b"?"),
    ],
    ids=[
        "utf-16 without a declaration",
        "the same cut off",
        "document type",
        "two encodings",
        "latin-1",
        "crlf",
        "lines before the document",
    ],
)
def test_encodings_and_line_ends_are_read_alike(content: bytes) -> None:
    assert_parsers_agree(content)


def test_a_whole_regular_log_is_never_left_to_the_slower_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def left(*_: object) -> NoReturn:
        raise AssertionError("this log is regular")

    monkeypatch.setattr("cepctl.io.xes.log.recover", left)
    assert len(output_of(SAMPLE.read_bytes(), OPTIONS[0]).rows) == 27
    assert len(output_of(LOG, OPTIONS[0]).rows) == 6


def test_damage_late_in_a_trace_too_long_to_keep_costs_what_it_would_cost_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The bytes of the first events are gone when the damage comes.
    monkeypatch.setattr("cepctl.io.xes.traces._TRACE_EVENTS", 100)
    event = (
        '<event><string key="concept:name" value="A"/>\n'
        '<date key="time:timestamp" value="2020-01-01T00:00:00Z"/></event>\n'
    )
    trace = f'<trace>\n<int key="amount" value="7"/>\n{event * 3_000}</wrong>{event}</trace>'
    assert_parsers_agree(f"<log>\n{trace}\n{trace}</log>".encode())
