"""Laws that are learned from logs: what they say, when there is none, that they are the same each time."""

from __future__ import annotations

import tomllib

import numpy as np
import pyarrow as pa
import pytest

import cepctl
from cepctl.errors import NoLawError
from cepctl.laws.learning.learned import Learned
from cepctl.laws.reading import read_laws
from tests.laws.learning.simulated_orders import UNIT, probability_before, simulated

HABIT = {("next", "A", "B"): 6.0, ("before", "B", "C"): 3.0, ("next", "^", "A"): 2.0}
BLUR = f"{UNIT} ms"


def learned(table: pa.Table, **options: object) -> Learned:
    return cepctl.learn(table, by="case", coarsen=BLUR, **options)  # type: ignore[arg-type]


def factors_of(found: Learned) -> dict[tuple[str, str, str], float]:
    return {("next", *pair): factor for pair, factor in found.law.following.items()} | {
        ("before", *pair): factor for pair, factor in found.law.before.items()
    }


def test_what_is_learned_says_how_often_each_order_was_drawn() -> None:
    found = learned(simulated(1_500, "ABC", HABIT))
    for one, other in ("AB", "BC", "AC"):
        true, told = (probability_before(one, other, "ABC", each) for each in (HABIT, factors_of(found)))
        assert told == pytest.approx(true, abs=0.03)
    assert found.scores.log_score_with < found.scores.log_score_without
    assert (found.keys, found.beyond, found.spare, found.open_pairs) == (1_500, 0, 0, 4_500)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(each, marks=pytest.mark.slow) for each in (2, 3, 4))])
def test_of_events_that_err_alone_there_is_no_law(seed: int) -> None:
    with pytest.raises(NoLawError, match=r"^no law is written: .* not better by two standard errors"):
        learned(simulated(300, "ABC", {}, seed))


@pytest.mark.slow
def test_of_hundreds_of_repeats_in_one_unit_there_is_no_law() -> None:
    random = np.random.default_rng(3)
    columns = {
        "event_type": random.choice(["Ping", "Pong"], 2_400),
        "case": np.repeat([f"c{i:02}" for i in range(12)], 200),
        "lower": np.repeat(np.arange(12), 200) * 1_000 + random.integers(0, 1_000, 2_400),
    }
    with pytest.raises(NoLawError, match="no law is written"):
        cepctl.learn(pa.table(columns | {"upper": columns["lower"]}), by="case", coarsen="1 s")


def test_times_that_are_no_finer_than_what_hides_them_teach_nothing() -> None:
    table = simulated(50, "ABC", HABIT)
    unit = pa.array(np.asarray(table.column("lower")) // UNIT * UNIT)
    table = table.set_column(2, "lower", unit).set_column(3, "upper", unit)
    with pytest.raises(NoLawError, match=r"true times are no finer than coarsen 100 ms: all 150 pairs"):
        learned(table)


def test_few_keys_teach_nothing_however_much_alike() -> None:
    with pytest.raises(NoLawError, match=r"only 9 of the keys .* takes 10 or more"):
        learned(simulated(9, "AB", {("next", "A", "B"): 1e9}))
    assert learned(simulated(10, "AB", {("next", "A", "B"): 1e9})).keys == 10


def test_keys_of_one_event_teach_nothing() -> None:
    with pytest.raises(NoLawError, match=r"no two events have the same case; name .* by"):
        learned(simulated(20, "A", {}))


def test_keys_of_one_step_teach_nothing() -> None:
    table = simulated(20, "AB", {})
    table = table.set_column(0, "event_type", pa.array(["A"] * len(table)))
    with pytest.raises(NoLawError, match="leaves no order of two steps open within a case"):
        learned(table)


@pytest.mark.parametrize("name", ["^", "$"])
def test_a_step_cannot_be_named_as_the_ends_of_a_key(name: str) -> None:
    table = simulated(20, "AB", {})
    table = table.set_column(0, "event_type", pa.array(["A", name] * 20))
    with pytest.raises(NoLawError, match="stands for an end of its key"):
        learned(table)


def test_the_file_holds_the_law_to_the_last_bit() -> None:
    table = simulated(200, "ABC", HABIT)
    names = {"A": 'say "a"', "B": "tab\tand \\", "C": "über.all\x7f"}
    table = table.set_column(0, "event_type", pa.array([names[e] for e in table.column(0).to_pylist()]))
    found = learned(table)
    (law,) = read_laws(tomllib.loads(found.text)["law"], "laws.toml")
    assert law == found.law
    assert len({step for step, _ in law.before}) == 3


def test_the_evidence_stands_beside_the_law() -> None:
    found = learned(simulated(200, "ABC", HABIT), part="0/2", seed=3)
    told = tomllib.loads(found.text)["law"][0]["evidence"]
    assert list(told)[:7] == ["blur", "part", "seed", "keys", "keys_beyond", "open_pairs", "sigma"]
    assert (told["blur"], told["part"], told["seed"]) == ("coarsen 100 ms", "0/2", 3)
    assert (told["keys"], told["open_pairs"]) == (100, 300)
    assert told["sigma"] in (0.5, 1.0, 1.5, 3.0)
    assert told["log_score_without"] == pytest.approx(found.scores.log_score_without, rel=1e-5)


@pytest.mark.slow
def test_a_law_has_the_same_bytes_each_time_and_in_any_order_of_rows() -> None:
    table = simulated(100, "ABC", HABIT)
    table = table.append_column("event_id", pa.array([f"e{i}" for i in range(len(table))]))
    turned = table.take(pa.array(np.random.default_rng(1).permutation(len(table))))
    assert learned(table).text == learned(table).text == learned(turned).text


def test_of_more_keys_some_are_drawn_by_their_hash() -> None:
    table = simulated(50, "ABC", HABIT)
    found = learned(table, max_keys=30)
    assert (found.keys, found.spare, found.open_pairs) == (30, 20, 90)
    assert learned(table, max_keys=30, seed=2).text != found.text


def test_pieces_beyond_the_limit_are_left_out_and_their_keys_counted() -> None:
    """Seventeen steps in one unit have 2^17 sets; two that stand in another one teach as well as any."""
    many = "ABCDEFGHIJKLMNOPQ"
    table = simulated(20, "AB", {("next", "A", "B"): 50.0})
    one = pa.table(
        {"event_type": list(many), "case": ["dear"] * 17, "lower": range(0, 34, 2), "upper": range(0, 34, 2)}
    )
    found = learned(pa.concat_tables([table, one.cast(table.schema)]))
    assert (found.keys, found.beyond) == (20, 1)
    with pytest.raises(NoLawError, match="every case leaves too many orders open"):
        learned(one)
    later = pa.table({"event_type": list("CAB"), "case": ["dear"] * 3, "lower": [150, 210, 220]})
    both = pa.concat_tables([table, one.cast(table.schema), later.append_column("upper", later["lower"])])
    parted = learned(both)
    assert (parted.keys, parted.beyond, parted.open_pairs) == (21, 1, 21)


def test_the_fold_of_a_key_depends_on_its_name_and_the_seed_alone() -> None:
    from tests.taught_keys import taught_keys

    keys = taught_keys(*["A1-2 B1-2"] * 40)
    some = keys.only(np.arange(0, 40, 3))
    assert some.folds(1, 5).tolist() == keys.folds(1, 5)[::3].tolist()
    assert sorted(set(keys.folds(1, 5).tolist())) == [0, 1, 2, 3, 4]
    assert keys.folds(1, 5).tolist() != keys.folds(2, 5).tolist()
