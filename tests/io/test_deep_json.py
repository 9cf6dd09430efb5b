"""JSON that is nested as deeply as a parser goes, and deeper: a reject or an error that is documented."""

from __future__ import annotations

import json
import re
from itertools import cycle

import pytest

from tests.reader_account import account_of
from tests.small_logs import SMALL_LOGS

OF_JSON = [name for name, (_, data) in SMALL_LOGS.items() if re.match(rb"\s*[\[{]", data) and b'"' in data]
# Below the depth at which a parser gives up, writing fails before reading does.
DEPTHS = (940, 1_100, 3_000)


@pytest.mark.parametrize("name", OF_JSON)
def test_a_log_with_a_deep_value_somewhere_is_read_as_far_as_it_goes(name: str) -> None:
    format_name, data = SMALL_LOGS[name]
    places = [found.end() for found in re.finditer(rb"[\[{:,]", data)]
    behind = cycle((b"", b","))
    for place in places[:: max(1, len(places) // 2)]:
        for depth in DEPTHS:
            for deep in (b"[" * depth, b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth):
                account_of(data[:place] + deep + next(behind) + data[place:], format_name)


def test_an_object_that_is_too_deep_is_a_reject_and_the_others_are_events() -> None:
    lines = [json.dumps({"time": f"2026-06-14T08:15:0{n}Z", "event": "a"}) for n in range(3)]
    deep = '{"time": "2026-06-14T08:15:09Z", "x": ' + '{"a":' * 950 + "1" + "}" * 951
    account = account_of("\n".join([*lines, deep, ""]).encode(), "json")
    assert (account.events, account.rejected) == (3, 1)
