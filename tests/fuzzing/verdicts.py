"""The verdict on a case: the event engine's answer is the judge's, and what is compared beside it holds too.

What an engine refuses by name is counted by its reason, and so is what is too large for the judge.  Any
exception that is none of ours is a failure.
"""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa

from cepctl.engines.event.match import match_events
from cepctl.errors import CepctlError, ContradictionError, QueryTooLargeError, UnsupportedQueryError
from cepctl.plan.plan import Plan
from cepctl.plan.support import constructs_of
from tests.fuzzing.answers import Disagreement, answer_of, judged, require_certain, require_same
from tests.fuzzing.checks import CHECKS, Confirmed
from tests.fuzzing.queries import Case

Outcome = Literal["agreed", "refused", "skipped", "failed"]


@dataclass(frozen=True)
class Verdict:
    """What became of a case; `reason` says why it was refused or skipped, or what of it failed.

    `constructs` are those of the table of support; `checked` says whether what is compared beside the rows of
    the judge applied.  `expected` and `found` are both answers where the case failed.
    """

    outcome: Outcome
    reason: str = ""
    rows: int = 0
    constructs: tuple[str, ...] = ()
    checked: bool = False
    expected: str = ""
    found: str = ""


class _SkippedError(Exception):
    """The judge does not answer."""


def verdict_on(case: Case) -> Verdict:
    """Ask both engines, and compare."""
    told = Verdict("agreed")
    try:
        plan = case.plan
        told = replace(told, constructs=_constructs(case, plan))
        rows, checked = _compared(case, plan)
    except Disagreement as error:
        return replace(told, outcome="failed", reason=error.what, expected=error.expected, found=error.found)
    except _SkippedError as error:
        return replace(told, outcome="skipped", reason=str(error))
    except CepctlError as error:
        return replace(told, outcome="refused", reason=_reason(error))
    except BaseException as error:
        # Polars reports its own defects by an exception that is no Exception.
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        what = f"{type(error).__name__} in {_place(error)}"
        found = "".join(traceback.format_exception(error))
        return replace(told, outcome="failed", reason=what, expected="rows or a CepctlError", found=found)
    return replace(told, rows=rows, checked=checked)


def _constructs(case: Case, plan: Plan) -> tuple[str, ...]:
    """By the names of the table of support; events that last count where some component names their type."""
    kinds = {event.event_type for event in case.events if event.end_lower is not None}
    components = [each for alternative in plan.alternatives for each in alternative.components]
    lasting = any(not each.event_types or kinds & set(each.event_types) for each in components)
    return tuple(each.value for each in constructs_of(plan, lasting=bool(kinds) and lasting))


def _compared(case: Case, plan: Plan) -> tuple[int, bool]:
    table = case.table
    expected = judged(plan, table)
    if isinstance(expected, QueryTooLargeError):
        raise _SkippedError(f"too large for the judge: {_reason(expected)}")
    rows: list[pa.Table] = []

    def engine(plan: Plan, table: pa.Table) -> pa.Table:
        rows.append(match_events(plan, table))
        return rows[-1]

    found = answer_of(plan, engine, table)
    if isinstance(found, QueryTooLargeError | UnsupportedQueryError):
        raise found
    require_same("rows", expected, found)
    if isinstance(found, CepctlError):
        raise found
    if isinstance(expected, CepctlError):
        raise expected
    if _decided_by_order_alone(plan):
        require_certain("rows", expected, found)
    check = CHECKS.get(case.check)
    if check is None or not rows:
        return len(found), False
    return len(found), check(Confirmed(case, plan, table, expected, rows[-1]))


def _decided_by_order_alone(plan: Plan) -> bool:
    """Whether difference constraints alone say which rows are certain: nothing is absent, there is no OR."""
    return (
        not plan.strategy.asks_others
        and len(plan.alternatives) == 1
        and plan.group_by is None
        and not any(component.negated for component in plan.alternatives[0].components)
    )


def _reason(error: CepctlError) -> str:
    """The message without its numbers and names, so that like refusals are counted together."""
    if isinstance(error, ContradictionError):
        return "ContradictionError: no possible world"
    first = re.sub(r"'[^']*'|\b\w+\[\]", "...", str(error).splitlines()[0])
    return f"{type(error).__name__}: {re.sub(r'-?[0-9][0-9,.]*', 'N', first)[:110]}"


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/cepctl/" in frame.filename or "/engines/" in frame.filename]
    last = (own or frames)[-1]
    return f"{last.filename.rpartition('cepctl/')[2]}:{last.name}"
