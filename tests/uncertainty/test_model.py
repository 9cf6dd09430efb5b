"""Uncertainty models from TOML: what is read, and how each mistake is named."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from cepctl.errors import UncertaintyModelError
from cepctl.schema import TimeUnit
from cepctl.uncertainty.model import load_model, parse_model
from cepctl.uncertainty.shapes import Granularity, Interval, Latency, Normal

DOCUMENTED = """
time_unit = "1 ms"

[[rule]]
event_type = "CPU*"
interval = { before = "15 s", after = "0 s" }

[[rule]]
source = "*.jhist"
interval = { before = "0.5 s", after = "0.5 s" }

[[rule]]
event_type = "ACOUSTIC"
latency = [["0 ms", "10 ms", 0.6], ["10 ms", "20 ms", 0.3], ["20 ms", "40 ms", 0.1]]

[[rule]]
event_type = "GPS"
normal = { sigma = "200 ms", cut = 3 }

[[rule]]
source = "*.xes"
granularity = "1 day"
"""


def test_the_documented_model_is_read_as_it_stands() -> None:
    model = parse_model(DOCUMENTED)
    assert model.time_unit == TimeUnit(1_000)
    assert [rule.number for rule in model.rules] == [1, 2, 3, 4, 5]
    assert model.rules[1].interval == Interval(Fraction(500_000), Fraction(500_000))
    assert isinstance(model.rules[2].shape, Latency)
    assert [delay.mass for delay in model.rules[2].shape.delays] == pytest.approx([0.6, 0.3, 0.1])
    assert model.rules[3].shape == Normal(Fraction(200_000), Fraction(3))
    assert model.rules[4].shape == Granularity(86_400_000_000)


def test_the_text_is_kept_for_the_dataset_that_it_was_used_for() -> None:
    assert parse_model(DOCUMENTED).text == DOCUMENTED


def test_a_model_without_time_unit_leaves_it_to_the_events() -> None:
    assert parse_model("").time_unit is None


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("", "rule 1: it has no interval, granularity, latency, normal, clock or writer; add one"),
        ("granularty = '1 s'", "rule 1: unknown key 'granularty'; did you mean 'granularity'?"),
        ("granularity = '1 s'\nnormal = { sigma = '1 s' }", "rule 1: granularity and normal exclude"),
        ("granularity = '0 s'", "rule 1: granularity must be a whole number of nanoseconds above 0"),
        ("granularity = '1 fortnight'", "rule 1: '1 fortnight' is not a duration"),
        ("granularity = 5", "rule 1: granularity must be text in quotes, not 5"),
        ("interval = '5 s'", "rule 1: write interval ="),
        ("interval = { before = '-2 s', after = '1 s' }", "rule 1: the interval is empty"),
        ("latency = [['0 s', '1 s', 0.5]]", "rule 1: the probabilities of the latency sum to 0.5, not to 1"),
        ("latency = [['0 s', '2 s', 0.5], ['1 s', '3 s', 0.5]]", "rule 1: two latency buckets overlap"),
        ("latency = [['1 s', '1 s', 1]]", "rule 1: latency from '1 s' to '1 s' is empty"),
        ("latency = [['0 s', '1 s', 2], ['1 s', '2 s', -1]]", "rule 1: a probability is below 0"),
        ("normal = { sigma = '0 s' }", "rule 1: sigma and cut must be above 0"),
        ("normal = { sigma = '1 s', cut = 'x' }", "rule 1: cut must be a number, not 'x'"),
        ("granularity = '1 s'\nwhere = 'node ='", "rule 1: "),
    ],
)
def test_a_mistake_names_file_rule_and_remedy(rule: str, message: str) -> None:
    with pytest.raises(UncertaintyModelError) as caught:
        parse_model(f"[[rule]]\n{rule}\n", "m.toml")
    assert str(caught.value).startswith(f"m.toml: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rule = 3", "m.toml: rules are tables; write [[rule]] before each"),
        ("time_unit = '0 s'", "m.toml: time unit '0 s' must be"),
        ("unit = '1 s'", "m.toml: unknown key 'unit'"),
        ("a = = b", "m.toml is not valid TOML"),
    ],
)
def test_a_mistake_outside_the_rules_names_the_file(text: str, message: str) -> None:
    with pytest.raises(UncertaintyModelError) as caught:
        parse_model(text, "m.toml")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("catch_all", ["", "event_type = '*'", "source = '*'"])
def test_rules_after_one_that_fits_everything_are_refused(catch_all: str) -> None:
    text = f"[[rule]]\n{catch_all}\ngranularity = '1 s'\n[[rule]]\nsource = 'x'\ngranularity = '1 h'\n"
    with pytest.raises(UncertaintyModelError, match="rule 2 is never reached: rule 1 fits every event"):
        parse_model(text)


def test_probabilities_that_sum_to_one_within_a_millionth_are_renormalised() -> None:
    model = parse_model("[[rule]]\nlatency = [['0 s', '1 s', 0.5], ['1 s', '2 s', 0.5000005]]")
    shape = model.rules[0].shape
    assert isinstance(shape, Latency)
    assert sum(delay.mass for delay in shape.delays) == pytest.approx(1, abs=1e-15)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UncertaintyModelError, match=r"cannot read the uncertainty model .*nowhere\.toml"):
        load_model(str(tmp_path / "nowhere.toml"))
