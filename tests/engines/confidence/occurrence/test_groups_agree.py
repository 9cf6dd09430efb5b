"""GROUP BY returns what the judge returns, construct by construct, on random queries and streams.

Run with CEPCTL_EXAMPLES=500 for more cases than in everyday runs, or `-m slow` for 2,000 of each.
"""

from __future__ import annotations

import pytest

from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.engines.confidence.occurrence.groups_agree import grouped, groups_agree, groups_agree_or_refused
from tests.strategies import LEVELS

MOST_REFUSED = 0.015
"""The share of random cases in which more rows share events than are taken together, at most."""


@pytest.mark.parametrize("level", LEVELS)
def test_groups_are_those_of_the_judge(level: str) -> None:
    check(grouped(LEVELS[level]), groups_agree, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_groups_are_those_of_the_judge_in_many_cases(level: str) -> None:
    answered: list[bool] = []
    check(grouped(LEVELS[level]), lambda case: answered.append(groups_agree_or_refused(case)), MANY_EXAMPLES)
    refused = answered.count(False)
    # Cases are drawn near one another: of a few a handful may be alike.
    assert refused <= max(4, len(answered) * MOST_REFUSED), f"{refused} of {len(answered)} cases are refused"
