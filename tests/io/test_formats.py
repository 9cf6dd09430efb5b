"""Opening logs: compression and format are told from the content, damage loses only what follows it."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import LogFormatError
from cepctl.io.formats import format_named, known_formats, open_log, recognised_format
from cepctl.io.source.locations import Location

TEXT = b"event_type,time\n" + b"".join(b"A,%d\n" % (number**5 % 10**9) for number in range(50_000))


def zstandard(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


def opened(file: Path, data: bytes) -> tuple[bytes, bytes, str | None]:
    file.write_bytes(data)
    with open_log(Location.of(str(file))) as log:
        return log.head, log.stream.read(), log.damage


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, zstandard])
def test_compression_is_told_from_the_magic_bytes(tmp_path: Path, compress: object) -> None:
    assert callable(compress)
    head, data, damage = opened(tmp_path / "wrong.suffix", compress(TEXT))
    assert (head, data, damage) == (TEXT[: 1 << 16], TEXT, None)


def test_several_members_in_one_gzip_are_one_log(tmp_path: Path) -> None:
    assert opened(tmp_path / "log", gzip.compress(b"a,") + gzip.compress(b"b\n"))[1] == b"a,b\n"


@pytest.mark.parametrize("compress", [gzip.compress, zstandard])
def test_a_truncated_file_keeps_what_came_before(tmp_path: Path, compress: object) -> None:
    assert callable(compress)
    packed = compress(TEXT)
    _, data, damage = opened(tmp_path / "log", packed[: len(packed) // 2])
    assert damage
    assert len(data) > 1_000
    assert TEXT.startswith(data)


def test_an_empty_file_has_an_empty_head(tmp_path: Path) -> None:
    assert opened(tmp_path / "log", b"") == (b"", b"", None)


def test_an_uncompressed_file_can_be_read_from_its_end(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(TEXT)
    with open_log(Location.of(str(tmp_path / "log"))) as log:
        log.stream.seek(-4, 2)
        assert log.stream.read() == TEXT[-4:]


def test_every_format_has_a_name_of_its_own() -> None:
    names = [known.name for known in known_formats()]
    assert sorted(set(names)) == sorted(names)
    assert {"csv", "tsv", "jsonl", "parquet", "jhist", "ganglia", "xes"} <= set(names)


def test_a_file_of_no_known_format_says_what_could_be_done() -> None:
    with pytest.raises(
        LogFormatError, match=r"x\.bin: of no known format .*the bytes 00 01; .*no option.*leave the file"
    ):
        recognised_format(b"\x00\x01", "x.bin")


@pytest.mark.parametrize(
    ("head", "name"),
    [(b"activity,ts\n", "csv"), (b"a,b\tts\n", "tsv"), (b'{"activity": 1}\n', "jsonl")],
)
def test_with_a_mapping_a_plain_file_may_have_any_columns(head: bytes, name: str) -> None:
    assert recognised_format(head, "x", mapped=True).name == name
    with pytest.raises(LogFormatError, match="of no known format"):
        recognised_format(head, "x")


def test_a_mapping_makes_no_plain_file_of_text() -> None:
    with pytest.raises(LogFormatError, match="of no known format"):
        recognised_format(b"Licensed under what follows.\n", "LICENSE", mapped=True)


def test_a_misspelt_format_is_answered_with_the_nearest() -> None:
    with pytest.raises(LogFormatError, match="unknown format 'jhst'; did you mean 'jhist'"):
        format_named("jhst")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(LogFormatError, match=r"cannot read .*nowhere"),
        open_log(Location(str(tmp_path / "nowhere"))),
    ):
        pass


@given(
    st.one_of(
        st.binary(max_size=200),
        st.tuples(
            st.sampled_from([b"", b"Timestamp,a\n", b"PAR1\x15\x04\n", b"{", b"<", b"RRD\0"]), st.binary()
        ).map(b"".join),
    )
)
def test_telling_a_format_never_fails_whatever_the_bytes(head: bytes) -> None:
    assert all(isinstance(known.reader.recognises(head), bool) for known in known_formats())
