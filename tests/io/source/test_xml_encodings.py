"""Every reader of XML: other names of UTF-8 are known, encodings that its parsers do not read are refused."""

from __future__ import annotations

import re

import pytest

from tests.reader_account import account_of
from tests.small_logs import SMALL_LOGS

DOCUMENTS = {
    name: (format_name, re.sub(rb"^<\?xml.*?\?>", b"", data))
    for name, (format_name, data) in SMALL_LOGS.items()
    if data.startswith((b"<?xml", b"<log", b"<GANGLIA", b"<rrd"))
}
every_document = pytest.mark.parametrize("name", DOCUMENTS)


def declared(name: str, encoding: str, inside: bytes = b"") -> bytes:
    body = DOCUMENTS[name][1]
    middle = len(body) // 2
    return b'<?xml version="1.0" encoding="%s"?>' % encoding.encode() + body[:middle] + inside + body[middle:]


def test_all_formats_of_xml_are_here() -> None:
    formats = {format_name for format_name, _ in DOCUMENTS.values()}
    assert formats == {"ganglia", "rrd-dump", "xes", "ocel"}


@every_document
@pytest.mark.parametrize("encoding", ["utf8", "UTF_8", "u8", "utf-16"])
def test_other_names_of_what_is_utf_8_by_now_change_nothing(name: str, encoding: str) -> None:
    wanted = account_of(declared(name, "UTF-8"), DOCUMENTS[name][0])
    assert account_of(declared(name, encoding), DOCUMENTS[name][0]) == wanted


@every_document
@pytest.mark.parametrize("inside", [b"", b"<oops"])
@pytest.mark.parametrize("encoding", ["x" * 3_000, "x-unknown", "big5", "utf-7", "hex"])
def test_an_encoding_that_no_parser_reads_is_refused(name: str, encoding: str, inside: bytes) -> None:
    account = account_of(declared(name, encoding, inside), DOCUMENTS[name][0])
    assert "encoding that is not read here; convert it to UTF-8" in (account.refused or "")


@every_document
@pytest.mark.parametrize("encoding", ["UTF-8", "UTFUTF-16", "x" * 50, "big5"])
def test_a_mark_of_the_order_of_bytes_overrules_the_name_of_an_encoding(name: str, encoding: str) -> None:
    text = declared(name, encoding).decode()
    account = account_of(text.encode("utf-16"), DOCUMENTS[name][0])
    wanted = account_of(declared(name, "UTF-16").decode().encode("utf-16"), DOCUMENTS[name][0])
    assert (account.refused, account.events) == (wanted.refused, wanted.events)
    assert account.rejected >= wanted.rejected  # where the name of the encoding is damage


def test_a_name_in_utf8_keeps_its_letters() -> None:
    event = (
        '<string key="concept:name" value="gr\u00fcn"/><date key="time:timestamp" value="2026-01-01T00:00Z"/>'
    )
    log = f'<?xml version="1.0" encoding="utf8"?><log><trace><event>{event}</event></trace></log>'
    account = account_of(log.encode(), "xes")
    assert (account.events, account.rejected) == (1, 0)
