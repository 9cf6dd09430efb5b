"""The event engine agrees with the judge about what is given, for every construct of the pattern."""

from __future__ import annotations

import pytest

from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.engines.confidence.given.given_cases import agrees, with_given
from tests.engines.confidence.occurrence.groups_agree import grouped
from tests.strategies import LEVELS


@pytest.mark.parametrize("level", ["chains", "everything"])
def test_event_engine_agrees_with_the_judge(level: str) -> None:
    check(with_given(LEVELS[level]), agrees, FEW_EXAMPLES)


def test_groups_agree_with_the_judge() -> None:
    check(with_given(grouped(LEVELS["chains"])), agrees, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["chains", "negation", "AND", "OR"])
def test_groups_agree_with_the_judge_on_many_cases(level: str) -> None:
    check(with_given(grouped(LEVELS[level])), agrees, MANY_EXAMPLES // 4)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_event_engine_agrees_with_the_judge_on_many_cases(level: str) -> None:
    check(with_given(LEVELS[level]), agrees, MANY_EXAMPLES // 4)
