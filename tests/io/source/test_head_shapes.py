"""Heads of one shape are of one format, and their times of one form: digits are drawn anew, and compared."""

from __future__ import annotations

from random import Random

import pytest

from cepctl.errors import CepctlError
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.formats import format_of
from cepctl.io.source.head_shapes import UNUSUAL, head_shape
from tests.foreign_lines import FORMS, LineForm
from tests.small_logs import SMALL_LOGS

OPTIONS = ReadOptions()
# Numbers that may be days, years, zones, versions or further times stand beside a time.
BESIDE = (
    "%Y-%m-%d %H:%M:%S since Jun {n} 14 2026",
    "%Y-%m-%d %H:%M:%S.{ms} -0700 at 12 {n}",
    "{n} %Y-%m-%d %H:%M:%S on 14/06/26 {n}",
    "%Y/%m/%d %H:%M:%S <{n}>1 x 10.0.0.{n} - - {n} 200 {n}",
    "%Y-%m-%dT%H:%M:%S a={n},b={ms},0.{us} [{n}] {epoch}",
    "%Y-%m-%d %H:%M:%S,{ms} {n} 08 15 04 {us} 2026 {n}",
    "%Y-%m-%d %H:%M:%S{n}",
    "12 %Y-%m-%d %H:%M:%S {n}h {n}min",
    "%Y-%m-%d %H:%M:%S [  {n}.{us}] usb",
    "x{n},%Y-%m-%d %H:%M:%S,{n},{ms}",
    "%Y-%m-%d %H:%M:%S\t{n}\t{ms}",
)
FORMS_OF_LINES = [*FORMS.values(), *(LineForm("lines", form, 1_000) for form in BESIDE)]
LOGS = [
    *(b"".join(form.line(i).encode() + b"\n" for i in range(4)) for form in FORMS_OF_LINES),
    *(data for _, data in SMALL_LOGS.values() if UNUSUAL.search(data) is None),
]


def told_by(head: bytes) -> tuple[str, object]:
    try:
        known = format_of(head, "a file", None, OPTIONS)
    except CepctlError:
        return "none", ()
    records = None if known.lines is None else known.lines(head, OPTIONS)
    return known.name, () if records is None else records.forms


def with_other_digits(text: bytes, draw: Random) -> bytes:
    other = bytearray(text)
    digits = [place for place, sign in enumerate(other) if chr(sign).isdigit()]
    for _ in range(draw.choice((1, 1, 2, 3, 6)) if digits else 0):
        other[draw.choice(digits)] = draw.choice(b"0123456789")
    return bytes(other)


def told_apart(cases: int, seed: int) -> list[tuple[bytes, bytes]]:
    """Pairs of heads of one shape which are told apart, of so many."""
    draw, found = Random(seed), []
    while cases:
        lines = draw.choice(LOGS).splitlines(keepends=True)
        first = draw.randrange(len(lines))
        text = b"".join(lines[first : first + draw.randint(1, 3)])
        other = with_other_digits(text, draw)
        if other != text and head_shape(other) == head_shape(text):
            cases -= 1
            if told_by(other) != told_by(text):
                found.append((text, other))
    return found


def test_heads_of_one_shape_tell_the_same() -> None:
    assert told_apart(150, 1) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 10))
def test_many_heads_of_one_shape_tell_the_same(seed: int) -> None:
    assert told_apart(3_000, seed) == []


def test_a_shape_that_says_too_little_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def shape(text: bytes) -> bytes:
        return bytes(ord("0") if chr(sign).isdigit() else sign for sign in text)

    monkeypatch.setattr(f"{__name__}.head_shape", shape)
    assert told_apart(150, 1) != []


@pytest.mark.parametrize("form", ["seconds", "milliseconds"])
def test_what_a_program_writes_has_few_shapes(form: str) -> None:
    part = {"seconds": "", "milliseconds": ",{ms}"}[form]
    line = LineForm("lines", f"%Y-%m-%d %H:%M:%S{part} INFO [w-{{n}}] task {{n}} took {{ms}} ms", 1_000)
    shapes = {head_shape(line.line(number).encode()) for number in range(0, 100_000, 97)}
    assert len(shapes) == 5  # numbers of one digit to five


@pytest.mark.parametrize("text", [b"caf\xc3\xa9 12", b"a\r\n", b"\0", b"\x1b[31m12"])
def test_what_readers_mend_has_no_shape(text: bytes) -> None:
    assert head_shape(text) is None
