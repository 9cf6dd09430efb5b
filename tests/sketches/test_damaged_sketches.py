"""Damage to a sketch is told in one line or does no harm; it never gives another answer."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from cepctl.errors import SketchError
from cepctl.plan.event_schema import EventSchema
from cepctl.schema import MILLISECOND
from cepctl.sketches.listing import Indexed
from cepctl.sketches.manifest import FILES, MANIFEST, VERSION
from cepctl.sketches.probing import probe_rows
from cepctl.sketches.reading import Sketch
from tests.plans import ATTRIBUTES, Event, event_table, plan_of
from tests.sketched_tables import archive_of, sketch_of_table

QUERY = "PATTERN SEQ(A a, B b) WHERE [k] AND a.x > 0 AND b.g = 'u' WITHIN 5 ticks"
EVENTS = [
    Event(f"e{number}", "AB"[number % 2], 4 * number, 4 * number + 1, x=number, k=f"k{number // 4}", g="u")
    for number in range(12)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sketch_of_table(
        tmp_path / "events.sketch", event_table(EVENTS), Indexed(("k", "g"), ("x",)), 3, share=0.5
    )
    return tmp_path / "events.sketch"


def probed(folder: Path) -> list[dict[str, object]]:
    archive = archive_of([Sketch.at(folder)], EventSchema(ATTRIBUTES, MILLISECOND))
    rows: list[dict[str, object]] = probe_rows(plan_of(QUERY), archive).to_pylist()
    return rows


@pytest.mark.parametrize("name", [MANIFEST, *FILES])
def test_a_flipped_bit_is_found_or_does_no_harm(folder: Path, name: str) -> None:
    whole = (folder / name).read_bytes()
    right = probed(folder)
    found = 0
    for place in range(0, len(whole), max(len(whole) // 11, 1)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        (folder / name).write_bytes(flipped)
        try:
            assert probed(folder) == right
        except SketchError as problem:
            assert "\n" not in str(problem)
            assert f"damaged ({name}); make it with: cepctl sketch {folder.with_suffix('')}" in str(problem)
            found += 1
    assert found > 8


@pytest.mark.parametrize("name", [MANIFEST, *FILES])
def test_a_file_that_is_cut_off_is_damaged(folder: Path, name: str) -> None:
    whole = (folder / name).read_bytes()
    for length in (0, 3, len(whole) // 2, len(whole) - 1):
        (folder / name).write_bytes(whole[:length])
        with pytest.raises(SketchError, match="damaged"):
            probed(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_damage(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(SketchError, match="damaged"):
        probed(folder)


def test_a_newer_version_is_named(folder: Path) -> None:
    said = json.loads((folder / MANIFEST).read_text())["cepctl.sketch"] | {"version": VERSION + 1}
    held = json.dumps(said)
    text = f'{{"cepctl.sketch": {held},\n"crc32": {zlib.crc32(held.encode())}}}\n'
    (folder / MANIFEST).write_text(text)
    with pytest.raises(SketchError, match="has version 3, and this cepctl reads version 2; make it with"):
        probed(folder)


def test_equal_events_give_equal_bytes(folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.sketch"
    sketch_of_table(again, event_table(EVENTS), Indexed(("k", "g"), ("x",)), 3, share=0.5)
    assert all((again / name).read_bytes() == (folder / name).read_bytes() for name in (MANIFEST, *FILES))
