"""GROUP BY returns what the judge returns, construct by construct, on random queries and streams.

Run with CEPCTL_EXAMPLES=500 for more cases than in everyday runs, or `-m slow` for 2,000 of each.
"""

from __future__ import annotations

import pytest

from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.engines.occurrence.groups_agree import grouped, groups_agree
from tests.strategies import LEVELS


@pytest.mark.parametrize("level", LEVELS)
def test_groups_are_those_of_the_judge(level: str) -> None:
    check(grouped(LEVELS[level]), groups_agree, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_groups_are_those_of_the_judge_in_many_cases(level: str) -> None:
    check(grouped(LEVELS[level]), groups_agree, MANY_EXAMPLES)
