"""Ties of clocks as values: chains, other units, metadata, and what makes no sense."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.clocks.shared import clocks_metadata, clocks_of, joined_clocks, rescaled_clocks
from cepctl.clocks.ties import ClockTie, chains_of, names_in_order, rescaled_tie, tied, ties_of
from cepctl.errors import EventSchemaError
from cepctl.schema import META_CLOCK_TIES, TimeUnit

OFFSET = ((-2, 2, 1.0),)
CLOCKS = dict.fromkeys(("n#10", "n#9", "n#11", "m"), OFFSET)
TIES = (ClockTie("n#9", "n#10", 1), ClockTie("n#10", "n#11", 2))
UNITS = st.sampled_from([1, 2, 1_000, 3_000, 1_000_000])


def test_clocks_stand_by_chains() -> None:
    assert names_in_order(tied(CLOCKS, TIES)) == ["m", "n#9", "n#10", "n#11"]
    assert names_in_order(CLOCKS) == sorted(CLOCKS)


def test_a_chain_is_kept_with_any_of_its_clocks() -> None:
    clocks = tied(CLOCKS, TIES)
    assert sorted(chains_of(clocks, ["n#11"])) == ["n#10", "n#11", "n#9"]
    assert ties_of(chains_of(clocks, ["n#11"])) == TIES
    assert chains_of(clocks, ["m"]) == {"m": OFFSET}
    assert chains_of(CLOCKS, ["m"]) == {"m": OFFSET}


def test_metadata_keep_ties() -> None:
    clocks = tied(CLOCKS, TIES)
    assert ties_of(clocks_of(clocks_metadata(clocks))) == tuple(sorted(TIES))
    assert META_CLOCK_TIES not in clocks_metadata(CLOCKS)
    with pytest.raises(EventSchemaError, match="damaged"):
        clocks_of({**clocks_metadata(clocks), META_CLOCK_TIES: b"[[1]]"})


def test_inputs_tie_alike_or_not_at_all() -> None:
    clocks = tied(CLOCKS, TIES)
    assert joined_clocks([clocks, CLOCKS, clocks]) == clocks
    with pytest.raises(EventSchemaError, match="'n#10' is tied to several others"):
        joined_clocks([clocks, tied(CLOCKS, [ClockTie("m", "n#10", 1)])])


@pytest.mark.parametrize(
    "ties",
    [
        [ClockTie("m", "other", 1)],
        [ClockTie("m", "n#9", -1)],
        [ClockTie("m", "n#9", 1), ClockTie("m", "n#10", 1)],
        [ClockTie("m", "n#9", 1), ClockTie("n#9", "m", 1)],
        [ClockTie("m", "n#9", 1), ClockTie("m", "n#9", 2)],
    ],
)
def test_ties_without_sense_are_refused(ties: list[ClockTie]) -> None:
    with pytest.raises(EventSchemaError, match="ingest the events again"):
        tied(CLOCKS, ties)


@given(st.integers(-30, 30), st.integers(-30, 30), UNITS, UNITS)
def test_ticks_of_another_unit_are_as_near_as_their_tie_says(
    one: int, other: int, was: int, now: int
) -> None:
    old, new = TimeUnit(was), TimeUnit(now)
    tie = rescaled_tie(ClockTie("a", "b", abs(one - other)), old, new)

    def covered(tick: int) -> tuple[int, int]:
        return tick * was // now, -(-(tick + 1) * was // now) - 1

    (low, high), (least, most) = covered(one), covered(other)
    assert max(high - least, most - low) <= tie.ticks


def test_ties_are_rescaled_with_their_clocks() -> None:
    finer = rescaled_clocks(tied(CLOCKS, TIES), TimeUnit(1_000), TimeUnit(500))
    assert {tie.ticks for tie in ties_of(finer)} == {3, 5}
