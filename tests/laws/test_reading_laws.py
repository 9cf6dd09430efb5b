"""Laws of order in a model file: what they say, and every mistake named by file, law and remedy."""

from __future__ import annotations

import pytest

from cepctl.errors import UncertaintyModelError
from cepctl.laws.law import OrderLaw
from cepctl.uncertainty.model import parse_model

LAW = """
[[law]]
by = "case_id"
step = ["activity", "lifecycle"]
[law.next."A"]
"B" = 4
"$" = 0.5
[law.next."^"]
"A" = 2.0
[law.before."B"]
"C" = 3.0
[law.evidence]
blur = "1 day"
anything = { goes = true }
"""


def test_a_law_names_its_key_its_steps_and_its_factors() -> None:
    assert parse_model(LAW).laws == (
        OrderLaw(
            "case_id",
            ("activity", "lifecycle"),
            {("A", "B"): 4.0, ("A", "$"): 0.5, ("^", "A"): 2.0},
            {("B", "C"): 3.0},
        ),
    )


def test_a_step_is_the_type_unless_it_is_named_and_one_name_needs_no_list() -> None:
    assert parse_model('[[law]]\nby = "k"').laws == (OrderLaw("k"),)
    assert parse_model('[[law]]\nby = "k"\nstep = "activity"').laws == (OrderLaw("k", ("activity",)),)


def test_a_factor_of_1_says_nothing() -> None:
    assert parse_model('[[law]]\nby = "k"\n[law.next."A"]\n"B" = 1\n"C" = 1.0').laws == (OrderLaw("k"),)


def test_a_model_without_a_law_has_none() -> None:
    assert parse_model("").laws == ()


def test_laws_of_several_keys_stand_side_by_side() -> None:
    assert [each.by for each in parse_model('[[law]]\nby = "k"\n[[law]]\nby = "m"').laws] == ["k", "m"]


@pytest.mark.parametrize("factor", ["0", "-1.5", "nan", "inf", "-inf", "true", '"4"', f"1{'0' * 400}"])
@pytest.mark.parametrize("kind", ["next", "before"])
def test_a_factor_is_a_number_above_0(kind: str, factor: str) -> None:
    with pytest.raises(UncertaintyModelError) as refused:
        parse_model(f'[[law]]\nby = "k"\n[law.{kind}."A"]\n"B" = {factor}', "model.toml")
    assert str(refused.value).startswith(f'model.toml: law 1: [law.{kind}."A"] "B" = ')
    assert "a factor is a number above 0 and finite" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("law = 3", "m.toml: [[law]] takes tables; write [[law]] before each"),
        ('[law]\nby = "k"', "m.toml: [[law]] takes tables; write [[law]] before each"),
        ("[[law]]", "m.toml: law 1: it does not say whose events it orders"),
        ("[[law]]\nby = 3", "m.toml: law 1: by must be the name of an attribute in quotes, not 3"),
        ('[[law]]\nby = ""', "m.toml: law 1: by must be the name of an attribute in quotes, not ''"),
        ('[[law]]\nby = "k"\nsteps = "a"', "m.toml: law 1: unknown key 'steps'; did you mean 'step'?"),
        ('[[law]]\nby = "k"\nfoo = 1', "m.toml: law 1: unknown key 'foo'; known: by, step, next"),
        ('[[law]]\nby = "k"\nstep = []', "m.toml: law 1: step must name attributes"),
        ('[[law]]\nby = "k"\nstep = [3]', "m.toml: law 1: step must be the name of an attribute in quotes"),
        ('[[law]]\nby = "k"\nstep = ["a", "a"]', "m.toml: law 1: step names 'a' twice"),
        ('[[law]]\nby = "k"\nnext = 2', "m.toml: law 1: next must be tables of factors, not 2"),
        ('[[law]]\nby = "k"\nnext = { A = 2 }', "m.toml: law 1: next of 'A' must be a table, not 2"),
        ('[[law]]\nby = "k"\n[law.next."$"]\n"A" = 2', "nothing comes after the end of a key"),
        ('[[law]]\nby = "k"\n[law.next."A"]\n"^" = 2', "so this never happens; leave it out"),
        ('[[law]]\nby = "k"\n[law.next."^"]\n"$" = 2', "so this never happens; leave it out"),
        ('[[law]]\nby = "k"\n[law.before."^"]\n"A" = 2', 'every event is after "^" and before "$"'),
        ('[[law]]\nby = "k"\n[law.before."A"]\n"$" = 2', 'every event is after "^" and before "$"'),
        ('[[law]]\nby = "k"\n[[law]]\nby = "k"', "law 2: law 1 is for the events of the attribute 'k'"),
        ("laws = 3", "m.toml: unknown key 'laws'; did you mean 'law'?"),
    ],
)
def test_a_mistake_is_named_with_file_law_and_remedy(text: str, said: str) -> None:
    with pytest.raises(UncertaintyModelError) as refused:
        parse_model(text, "m.toml")
    assert said in str(refused.value)
    assert str(refused.value).startswith("m.toml: ")
    assert "\n" not in str(refused.value)
