"""What a newcomer writes in Python by habit, and what the library says to it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import polars as pl
import pytest

import cepctl

QUERY = "PATTERN SEQ(A a, B b)"
EVENTS = pl.DataFrame({"event_type": ["A", "B"], "lower": [1, 3], "upper": [2, 4]})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            (EVENTS, QUERY),
            "^a polars.DataFrame is no query; a query, as text or a pathlib.Path, comes first",
        ),
        ((None, EVENTS), "None is no query"),
        ((QUERY, None), "^None is not events; give paths, a table of Arrow, or a frame"),
        ((QUERY, EVENTS.to_dicts()), "^a dict is not events; .*; polars.DataFrame.* of a list of dicts"),
        ((QUERY, EVENTS.to_numpy()), "^a numpy.ndarray is not events; .* or Spark$"),
        ((QUERY, EVENTS.to_pandas()["lower"]), "^a pandas.Series is not events"),
        ((QUERY, EVENTS["lower"]), "^a polars.Series is not events"),
    ],
)
def test_what_is_no_query_and_what_is_no_events(given: tuple[Any, Any], message: str) -> None:
    with pytest.raises(cepctl.CepctlError, match=message):
        cepctl.match(*given)


@pytest.mark.parametrize("uncertainty", [timedelta(seconds=5), {"A": timedelta(seconds=5)}, 0.5, {"*": 3}])
def test_a_length_alone_does_not_say_which_way_times_are_off(uncertainty: Any) -> None:
    with pytest.raises(cepctl.CepctlError, match="'±5 s' is around each time"):
        cepctl.match(QUERY, EVENTS, uncertainty=uncertainty)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("min_conf", "there is no option 'min_conf'; did you mean 'min_confidence'?"),
        ("uncertianty", "there is no option 'uncertianty'; did you mean 'uncertainty'?"),
        ("within", "there is no option 'within'; the query says it: WITHIN ..."),
        ("group_by", "there is no option 'group_by'; the query says it: GROUP BY ..."),
        ("zzz", "there is no option 'zzz'"),
    ],
)
def test_an_option_that_is_none_names_what_was_meant(option: str, message: str) -> None:
    with pytest.raises(TypeError) as problem:
        cepctl.match(QUERY, EVENTS, **{option: 1})  # type: ignore[arg-type]
    assert str(problem.value) == message


def test_a_call_that_is_none_names_those_that_are() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'read_csv'; its calls are assign, .*, match, "):
        cepctl.read_csv  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(cepctl, "read_csv")


def test_matches_name_the_frames_that_can_do_more() -> None:
    with pytest.raises(AttributeError, match=r"no 'sort_values'; \.polars\(\), \.pandas\(\) and \.arrow\(\)"):
        cepctl.match(QUERY, EVENTS).sort_values  # type: ignore[attr-defined]  # noqa: B018
