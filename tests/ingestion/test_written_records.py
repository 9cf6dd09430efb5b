"""Stamps that records share and steps back, of any blocks: as one look at all records gives them."""

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cepctl.ingestion.written_records import Eras, RecordBlock, shared_stamps

WRITERS = st.integers(-1, 2)
EVENTS = st.lists(st.tuples(WRITERS, st.integers(0, 30), st.integers(0, 3)), min_size=1, max_size=40)
CUTS = st.lists(st.integers(0, 40), max_size=4)


def blocks_of(events: list[tuple[int, int, int]], cuts: list[int]) -> list[RecordBlock]:
    """Records in the order of their numbers, cut into blocks, the rows of each by their ticks."""
    rows = [(writer, along, lower, lower + width) for along, (writer, lower, width) in enumerate(events)]
    edges = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    pieces = [rows[first:last] for first, last in pairwise(edges)]
    return [
        RecordBlock(*map(np.array, zip(*sorted(piece, key=lambda row: row[2]), strict=True)))
        for piece in pieces
    ]


def steps_one_by_one(events: list[tuple[int, int, int]]) -> dict[int, list[int]]:
    """Where no tick of a record lies after the earliest of all before it since the last step."""
    reached: dict[int, int] = {}
    steps = defaultdict(list)
    for along, (writer, lower, width) in enumerate(events):
        if writer < 0:
            continue
        if writer in reached and reached[writer] + 1 > lower + width:
            steps[writer].append(along)
            del reached[writer]
        reached[writer] = max(lower, reached.get(writer, lower - 1) + 1)
    return dict(steps)


@given(EVENTS, CUTS)
def test_steps_back_are_those_of_one_look_at_all_records(
    events: list[tuple[int, int, int]], cuts: list[int]
) -> None:
    eras = Eras()
    for block in blocks_of(events, cuts):
        eras.add(block)
    assert eras.steps == steps_one_by_one(events)
    assert eras.events == sum(writer >= 0 for writer, _, _ in events)


@given(EVENTS, CUTS)
def test_records_are_in_units_where_they_overlap_only_if_their_stamps_are_equal(
    events: list[tuple[int, int, int]], cuts: list[int]
) -> None:
    eras = Eras()
    for block in blocks_of(events, cuts):
        eras.add(block)
    last: dict[int, tuple[int, int]] = {}
    in_units = True
    for writer, lower, width in events:
        if writer < 0:
            continue
        own = (lower, lower + width)
        if writer in last and own != last[writer]:
            in_units = in_units and lower > last[writer][1]
        last[writer] = own
    assert eras.in_units == in_units


@given(EVENTS, CUTS)
def test_shared_stamps_are_counted_over_all_blocks(
    events: list[tuple[int, int, int]], cuts: list[int]
) -> None:
    blocks = blocks_of(events, cuts)
    found = shared_stamps(blocks, [(int(each.lower.min()), int(each.upper.max())) for each in blocks])
    stamps = Counter(event for event in events if event[0] >= 0)
    several = {stamp: count for stamp, count in stamps.items() if count > 1}
    assert found.sharing == sum(several.values())
    assert found.needed == max((-(-1000 * n // (stamp[2] + 1)) for stamp, n in several.items()), default=1)
    for block, exact in zip(blocks, found.exact, strict=True):
        told = zip(block.writer.tolist(), block.lower.tolist(), block.upper.tolist(), strict=True)
        assert exact.tolist() == [last == first and (w, first, 0) in several for w, first, last in told]


def test_many_writers_go_on_as_few_do() -> None:
    """Beyond a number of writers all are looked at together."""
    of_each = 3
    writer = np.repeat(np.arange(200), of_each)
    lower = np.tile([5, 9, 2], 200)
    eras = Eras()
    eras.add(RecordBlock(writer, np.arange(len(writer)), lower, lower))
    eras.add(RecordBlock(writer, np.arange(len(writer)) + len(writer), lower, lower))
    assert {len(steps) for steps in eras.steps.values()} == {2}
    assert eras.worst[0][1] == 7
