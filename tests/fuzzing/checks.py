"""What is compared beside the rows of the judge: thresholds, the best rows, orders, slices, other engines.

A check gets a case whose rows the judge has confirmed, and these rows, so that nothing is found twice.  It
says whether it applies; where it does and fails, it raises Disagreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.confidence.given import parts_of_units
from cepctl.engines.confidence.occurrence import occurrence, rows
from cepctl.engines.diagnosis.why_not import why_not
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.point.engine import match_table as match_points
from cepctl.engines.rows.groups import groups_in_order
from cepctl.engines.rows.order import ordered
from cepctl.engines.runners.slices import choose_slicing
from cepctl.engines.worlds.groups import exact_summaries
from cepctl.errors import QueryTooLargeError, UnsupportedQueryError
from cepctl.event_table import TIME_TYPE
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.plan.evaluation_order import ORDERS
from cepctl.plan.passed_over import may_meet
from cepctl.plan.plan import FOUND_AT_RAW_TIMES, Plan
from cepctl.plan.summary import summary_refusals
from cepctl.plan.support import engine_refusals
from tests.engines.runners.test_interval_slices import as_in_a_run
from tests.engines.runners.test_slices import read_by_slice, sent_to_groups, task_of
from tests.fuzzing.answers import Answer, Disagreement, answer_of, require_same, rows_of, shown, shown_answer
from tests.fuzzing.queries import Case
from tests.fuzzing.read_from_files import FORMS, answer_of_file


class Confirmed(NamedTuple):
    """A case, what the judge says to it, and the rows of the event engine, which are the same."""

    case: Case
    plan: Plan
    table: pa.Table
    judged: Answer
    rows: pa.Table


_LATER = 1_000_003
"""By how many ticks a case is moved."""
_MOST_ESTIMATED, _ERROR = 6, 0.1
_NEARLY_NEVER = 1.3
"""An estimate is off by more than so many times its error once in a hundred billion times."""


def _threshold(confirmed: Confirmed) -> bool:
    """Rows with a threshold are the rows above it without one."""
    plan, every, setting = confirmed.plan, confirmed.rows, confirmed.case.setting
    column = "confidence" if plan.group_by is None else "occurrence"
    values = every.column(column).to_pylist()
    if any(value is None for value in values):
        return False
    # On a number that occurs, where the slack matters most, or between them.
    least = sorted(values)[int(setting * len(values))] if values else setting
    above = every.filter(pc.greater_equal(every.column(column), least - CONFIDENCE_SLACK))
    found = match_events(replace(plan, minimum_confidence=least), confirmed.table)
    _require_equal(f"CONFIDENCE >= {least}", plan, above, found)
    return True


def _top(confirmed: Confirmed) -> bool:
    """The k most probable rows are the first k of all."""
    plan, every = confirmed.plan, confirmed.rows
    top = 1 + int(confirmed.case.setting * 4)
    if plan.group_by is not None and any(each is None for each in every.column("occurrence").to_pylist()):
        return False
    found = match_events(plan, confirmed.table, MatchOptions(top=top))
    _require_equal(f"--top-k {top}", plan, every, found, top)
    return True


def _require_equal(
    what: str, plan: Plan, expected: pa.Table, found: pa.Table, top: int | None = None
) -> None:
    """Raise Disagreement unless the rows are the same in the same order, of plain rows to the last bit."""
    if plan.group_by is not None:
        keys = len(plan.group_by)
        require_same(
            what.split(maxsplit=1)[0],
            rows_of(plan, groups_in_order(expected, keys, top)),
            rows_of(plan, groups_in_order(found, keys, top)),
        )
        return
    first, second = ordered(expected, top), ordered(found, top)
    if not first.equals(second):
        text = f"{what}\n{shown(second.to_pylist())}"
        raise Disagreement(what.split(maxsplit=1)[0], shown(first.to_pylist()), text)


def _binding_order(confirmed: Confirmed) -> bool:
    """No order of binding changes a row."""
    plan, table = confirmed.plan, confirmed.table
    order = ORDERS[1 + int(confirmed.case.setting * (len(ORDERS) - 1))]
    counts = dict(Counter(table.column("event_type").to_pylist()))
    found = answer_of(plan, _with(MatchOptions(order, counts)), table)
    require_same(f"--order {order}", rows_of(plan, confirmed.rows), found)
    return True


def _slices(confirmed: Confirmed) -> bool:
    """However time and keys are cut, the rows are the same to the last bit."""
    case, plan = confirmed.case, confirmed.plan
    if plan.group_by is not None or (plan.window is None and not plan.partition_by) or not case.events:
        return False
    wanted = ordered(confirmed.rows)
    length, size, buckets = _digits(case.setting, (1, 2, 3, 7), (1, 2, 3, 4, 5), (1, 2, 3))
    task = as_in_a_run(task_of(plan, confirmed.table, size))
    slicing = choose_slicing(task.groups, plan, 2, length)
    # Clocks tie events of all keys.
    keyed = plan.apart_by_key and not plan.clocks
    sent = replace(slicing, buckets=buckets if keyed else 1, sent=True)
    for what, found in (("slices", read_by_slice(task, slicing)), ("sent", sent_to_groups(task, sent))):
        if not found.equals(wanted):
            text = f"{what}: slices of {length} ticks, {size} events to a row group, {buckets} buckets\n"
            raise Disagreement(what, shown(wanted.to_pylist()), text + shown(found.to_pylist()))
    return True


def _moved(confirmed: Confirmed) -> bool:
    """At another time the confidences are the same to the last bit."""
    plan = confirmed.plan
    if "1970" in str(confirmed.case.query) or plan.group_by is not None:
        return False
    still = replace(plan, returns=())
    later = confirmed.table
    for name in ("lower", "upper", "end_lower", "end_upper"):
        later = _replaced(later, name, pc.add(confirmed.table.column(name), _LATER))
    for name in ("pmf", "end_pmf"):
        if name in later.column_names:
            later = _replaced(later, name, _later_buckets(later.column(name)))
    there = match_events(still, later)
    for name in ("start", "end"):
        there = _replaced(there, name, pc.subtract(there.column(name), _LATER))
    _require_equal("moved", still, confirmed.rows.select(there.column_names), there)
    return True


def _later_buckets(column: pa.ChunkedArray) -> pa.Array:
    moved = [
        each and [{**bucket, "lo": bucket["lo"] + _LATER, "hi": bucket["hi"] + _LATER} for bucket in each]
        for each in column.to_pylist()
    ]
    return pa.array(moved, column.type)


def _raw_times(confirmed: Confirmed) -> bool:
    """What is computed for the summary changes no row, and fails no run."""
    plan, case = confirmed.plan, confirmed.case
    ticks = [
        (None, event.lower, event.upper)[int(case.setting * 7 + number) % 3]
        for number, event in enumerate(case.stamped)
    ]
    times = pa.array([tick if tick is None else tick * 1_000 for tick in ticks], TIME_TYPE)
    timed = _replaced(confirmed.table, "time", times)
    found = match_events(plan, timed, MatchOptions(raw_times=True)).drop_columns([FOUND_AT_RAW_TIMES])
    require_same("raw times", answer_of(plan, match_events, timed), rows_of(plan, found))
    return True


def _point_engine(confirmed: Confirmed) -> bool:
    """The second opinion agrees where it has one."""
    plan = confirmed.plan
    if engine_refusals(plan, "point", lasting=confirmed.case.lasting) or plan.minimum_confidence:
        return False
    return _is_judged("point engine", confirmed, answer_of(plan, match_points, confirmed.table))


def _summary(confirmed: Confirmed) -> bool:
    """Rows of `--kleene summary` are those of the judge: their neighbours, members and counts."""
    plan, table = confirmed.plan, confirmed.table
    if summary_refusals(plan) or plan.clocks or plan.given or plan.laws:
        return False
    try:
        found = match_events(replace(plan, returns=()), table, MatchOptions(kleene="summary")).to_pylist()
    except (UnsupportedQueryError, QueryTooLargeError):
        return False
    wanted = [
        {
            "signature": list(map(list, signature)),
            "start": each.start,
            "end": each.end,
            "confidence": round(float(each.confidence), 9),
            "members": {name: round(float(value), 9) for name, value in sorted(each.members.items())},
            "count": str(len(each.signatures)),
        }
        for signature, each in exact_summaries(replace(plan, returns=()), table).items()
    ]
    rows = [
        {**row, "confidence": round(row["confidence"], 9), "members": _members(row["members"])}
        for row in found
    ]
    if sorted(wanted, key=str) != sorted(rows, key=str):
        raise Disagreement("summary", shown(sorted(wanted, key=str)), shown(sorted(rows, key=str)))
    return True


def _why_not(confirmed: Confirmed) -> bool:
    """As many matches can happen as there are rows, reading by reading."""
    plan, table = confirmed.plan, confirmed.table
    if plan.group_by is not None or plan.laws or plan.never is not None:
        return False
    for alternative in plan.alternatives:
        alone = replace(plan, alternatives=(alternative,), minimum_confidence=None, returns=())
        try:
            rows = match_events(alone, table).num_rows
            found = [each.completion for each in why_not(alone, table).alternatives]
        except (UnsupportedQueryError, QueryTooLargeError):
            return False
        possible = sum(each.possible for each in found if each is not None)
        # A row that several readings give can happen in each of them.
        if possible < rows or (possible > rows and not may_meet(alone)):
            raise Disagreement("why-not", f"{rows} can happen", f"{possible} can happen")
    return True


def _estimates(confirmed: Confirmed) -> bool:
    """What `--approximate` draws, where nothing is summed, is within its error, and leaves no row out."""
    plan, every = confirmed.plan, confirmed.rows
    column = "confidence" if plan.group_by is None else "occurrence"
    if every.num_rows > _MOST_ESTIMATED or plan.minimum_confidence or every.column(column).null_count:
        return False
    options = MatchOptions(approximate=_ERROR)
    with patch.object(rows, "WORK_BOUND", 0), patch.object(occurrence, "WORK_BOUND", 0):
        try:
            found = rows_of(plan, match_events(plan, confirmed.table, options))
        except (UnsupportedQueryError, QueryTooLargeError):
            return False
    wanted = rows_of(plan, every)
    apart = {key: abs(row[column] - found[key][column]) for key, row in wanted.items() if key in found}
    if wanted.keys() != found.keys() or any(
        each > _NEARLY_NEVER * found[key][f"{column}_error"] + CONFIDENCE_SLACK for key, each in apart.items()
    ):
        raise Disagreement("estimates", shown_answer(wanted), shown_answer(found))
    return any(row[f"{column}_error"] > 0 for row in found.values())


def _members(text: str) -> dict[str, float]:
    pairs = (entry.rsplit(":", 1) for entry in text.split(" "))
    return {name: round(float(value), 9) for name, value in sorted(pairs)}


def _counted_units(confirmed: Confirmed) -> bool:
    """However few records a unit has, counting how they interleave gives what a sum over ticks gives."""
    plan = confirmed.plan
    with patch.object(parts_of_units, "FEW_RECORDS", 0), patch.object(parts_of_units, "_OF_TWO_RECORDS", 0):
        found = answer_of(plan, match_events, confirmed.table)
    return _is_judged("counted units", confirmed, found)


def _is_judged(what: str, confirmed: Confirmed, found: Answer) -> bool:
    """Whether it is an answer, and no refusal; raises Disagreement where it is not that of the judge."""
    if isinstance(found, QueryTooLargeError | UnsupportedQueryError):
        return False
    require_same(what, confirmed.judged, found)
    return True


def _files(confirmed: Confirmed) -> bool:
    """A file that holds the events, read as far as the query needs it, gives the rows."""
    case = confirmed.case
    (form,) = _digits(case.setting, tuple(range(len(FORMS))))
    found = answer_of_file(case, confirmed.plan, FORMS[form])
    return found is not None and _is_judged(FORMS[form], confirmed, found)


CHECKS: Mapping[str, Callable[[Confirmed], bool]] = {
    "threshold": _threshold,
    "top-k": _top,
    "binding-order": _binding_order,
    "slices": _slices,
    "moved": _moved,
    "raw-times": _raw_times,
    "point-engine": _point_engine,
    "files": _files,
    "counted-units": _counted_units,
    "summary": _summary,
    "why-not": _why_not,
    "estimates": _estimates,
}


def _with(options: MatchOptions) -> Callable[[Plan, pa.Table], pa.Table]:
    return lambda plan, table: match_events(plan, table, options)


def _replaced(table: pa.Table, name: str, column: Any) -> pa.Table:
    if name not in table.column_names:
        return table
    return table.set_column(table.column_names.index(name), name, column)


def _digits(setting: float, *choices: tuple[int, ...]) -> list[int]:
    """One of each, as independent as the digits of a number in [0, 1)."""
    found = []
    for each in choices:
        place = int(setting * len(each))
        found.append(each[place])
        setting = setting * len(each) - place
    return found
