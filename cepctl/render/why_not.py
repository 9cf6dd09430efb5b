"""Why a query matches so little, as text for people or as one JSON object for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from rich.table import Table
from rich.text import Text

from cepctl.render.counting import counted, ticks_text
from cepctl.render.pages import page_width, plain_table, print_page

if TYPE_CHECKING:
    from cepctl.engines.diagnosis.complete_bindings import CompletionReport
    from cepctl.engines.diagnosis.partial_matches import Fitting, JoinReport, Loss
    from cepctl.engines.diagnosis.why_not import AlternativeExplained, Excluded, WhyNot

_PIPE_WIDTH = 200


def print_why_not(why: WhyNot, file: TextIO | None = None) -> None:
    """Print the answer to a file, standard error by default."""
    file = file or sys.stderr
    print_page(_parts(why), file, page_width(file, _PIPE_WIDTH))


def why_not_json(why: WhyNot) -> str:
    """The facts as one JSON object on one line: {"why_not": {"readings": [...]}}."""
    facts = {"why_not": {"readings": [_facts(why, each) for each in why.alternatives]}}
    return json.dumps(facts, ensure_ascii=False)


# --- words -------------------------------------------------------------------------------


def _parts(why: WhyNot) -> Iterator[Table | Text | str]:
    for number, explained in enumerate(why.alternatives, start=1):
        if len(why.alternatives) > 1:
            yield Text(f"Reading {number} of {len(why.alternatives)}", style="bold")
        yield from _alternative(why, explained)


def _alternative(why: WhyNot, explained: AlternativeExplained) -> Iterator[Table | str]:
    yield _fitting_table(explained)
    yield _step_table(why, explained)
    yield from _stopped(explained)
    if explained.excluded:
        yield _excluded_table(why, explained)
    elif explained.completion is None and all(each.left for each in _positive(explained)):
        yield "No single condition is to blame: dropping any one of them still leaves no match."
    if explained.completion is not None:
        yield from _completion(why, explained.completion)
    for step in explained.steps:
        if step.followed < step.partial:
            name, share = _variable(explained, step.component), f"{step.followed:,} of {step.partial:,}"
            yield (
                f"At {name}, {share} partial matches were followed, evenly spaced; "
                "counts from there on are of these."
            )


def _fitting_table(explained: AlternativeExplained) -> Table:
    table = plain_table("component", "of its type", "fit", "left out by", numbers=("of its type", "fit"))
    for each in explained.fitting:
        component = explained.alternative.components[each.component]
        types = "|".join(component.event_types) or "*"
        name = types if component.variable == types else f"{types} {component.variable}"
        shown = f"no {name}" if component.negated else name + ("+" if component.kleene else "")
        table.add_row(shown, f"{each.typed:,}", f"{each.left:,}", _losses(each.losses))
    return table


def _step_table(why: WhyNot, explained: AlternativeExplained) -> Table:
    table = plain_table("partial match", "tried", "go on", "stopped by", numbers=("tried", "go on"))
    bound: list[str] = []
    for step in explained.steps:
        bound.append(_variable(explained, step.component))
        table.add_row(" ".join(bound), f"{step.pairs:,}", f"{step.left:,}", _losses(step.losses))
    return table


def _stopped(explained: AlternativeExplained) -> Iterator[str]:
    """Where partial matches ended, or which condition stopped most of them."""
    for fitting in _positive(explained):
        if not fitting.left:
            name = _variable(explained, fitting.component)
            if not fitting.typed:
                yield f"No event has the type of {name}."
            else:
                most = max(fitting.losses, key=lambda loss: loss.count)
                yield (
                    f"No event fits {name}: {most.condition.text} leaves out {most.count:,} "
                    f"of {counted(fitting.typed, 'event')}."
                )
            return
    losses = [(loss, step) for step in explained.steps for loss in step.losses if loss.count]
    if not losses:
        return
    last = explained.steps[-1]
    if not last.left:
        # What the conditions before it have let through, it stops.
        loss, step = losses[-1]
        share = f"the last {loss.count:,} of {counted(step.pairs, 'pair')}"
        variable = _variable(explained, step.component)
        yield f"Nothing gets past {variable}: {loss.condition.text} stops {share}."
        return
    loss, step = max(losses, key=lambda pair: pair[0].count)
    share = f"{loss.count:,} of {counted(step.pairs, 'pair')}"
    yield f"Most are lost at {_variable(explained, step.component)}: {loss.condition.text} stops {share}."


def _excluded_table(why: WhyNot, explained: AlternativeExplained) -> Table:
    whole = explained.length == len(explained.alternative.positive)
    names = [explained.alternative.components[i].variable for i in explained.alternative.positive]
    what = "bindings" if whole else f"up to {names[explained.length - 1]}"
    table = plain_table("ruled out by this alone", what, "nearest miss", numbers=(what,))
    for each in explained.excluded:
        count = f"{each.count:,}" + ("+" if each.at_least else "")
        table.add_row(each.condition.text, count, _miss(why, each))
    return table


def _miss(why: WhyNot, excluded: Excluded) -> str:
    miss, kind = excluded.nearest, excluded.condition.kind
    match = why.text(tuple((event,) for event in miss.events))
    if miss.in_ticks and miss.excess is not None:
        ticks = int(miss.excess)
        length = ticks_text(ticks, why.plan.time_unit)
        if kind == "window":
            assert why.plan.window is not None
            span = ticks_text(why.plan.window - 1 + ticks, why.plan.time_unit)
            return f"{match}: takes at least {span}, {length} too long"
        return f"{match}: out of order by {length}" if kind == "order" else f"{match}: misses it by {length}"
    texts = [f"{name} = {_value(value)}" for name, value in miss.values]
    if miss.excess is not None:
        texts.append(f"off by {miss.excess:.6g}" if miss.excess else "the bound itself")
    return f"{match}: {', '.join(texts)}"


def _completion(why: WhyNot, completion: CompletionReport) -> Iterator[str]:
    first = f"All components bound: {counted(completion.bindings, 'binding')}"
    if completion.complete != completion.bindings:
        first += f", {completion.complete:,} with their groups"
    yield first + (" (not all were looked at)." if completion.sampled else ".")
    for loss in completion.group_losses:
        if loss.count:
            yield f"  {loss.condition.text} rejects {counted(loss.count, 'group')}."
    for loss in completion.losses:
        if loss.count:
            yield f"  {loss.condition.text}: leaves no world to {loss.count:,} of {completion.complete:,}."
    for each in completion.breakers:
        rival = why.text(((each.event,),))
        example = why.text(each.example)
        lost = f"{each.count:,} of them, such as {example}"
        yield f"    {rival} certainly breaks {lost} ({each.condition.text})."
    if completion.complete:
        yield f"  {counted(completion.possible, 'match', 'matches')} can happen."
    if completion.below and completion.best is not None:
        best, wanted = why.text(completion.best), why.plan.minimum_confidence
        yield (
            f"  {completion.below:,} of them below CONFIDENCE >= {wanted}: "
            f"the likeliest is {best} with {completion.best_confidence:.6g}."
        )


def _positive(explained: AlternativeExplained) -> list[Fitting]:
    return [
        each for each in explained.fitting if not explained.alternative.components[each.component].negated
    ]


def _variable(explained: AlternativeExplained, component: int) -> str:
    return explained.alternative.components[component].variable


def _losses(losses: Sequence[Loss]) -> str:
    most = sorted((loss for loss in losses if loss.count), key=lambda loss: -loss.count)
    return ", ".join(f"{loss.condition.text} ({loss.count:,})" for loss in most)


def _value(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else "null" if value is None else str(value)


# --- JSON --------------------------------------------------------------------------------


def _facts(why: WhyNot, explained: AlternativeExplained) -> dict[str, Any]:
    return {
        "components": [
            {
                "variable": _variable(explained, each.component),
                "of_its_type": each.typed,
                "fit": each.left,
                "left_out_by": _loss_facts(each.losses),
            }
            for each in explained.fitting
        ],
        "steps": [_step_facts(explained, each) for each in explained.steps],
        "forbidden_alone": [
            {
                "condition": each.condition.text,
                "kind": each.condition.kind,
                "components": explained.length,
                "count": each.count,
                "at_least": each.at_least,
                "nearest": {
                    "match": why.text(tuple((event,) for event in each.nearest.events)),
                    "excess": each.nearest.excess,
                    "unit": "ticks" if each.nearest.in_ticks else None,
                    "values": dict(each.nearest.values),
                },
            }
            for each in explained.excluded
        ],
        "complete": None if explained.completion is None else _completion_facts(why, explained.completion),
    }


def _step_facts(explained: AlternativeExplained, step: JoinReport) -> dict[str, Any]:
    return {
        "variable": _variable(explained, step.component),
        "partial_matches": step.partial,
        "followed": step.followed,
        "tried": step.pairs,
        "go_on": step.left,
        "stopped_by": _loss_facts(step.losses),
    }


def _completion_facts(why: WhyNot, completion: CompletionReport) -> dict[str, Any]:
    return {
        "bindings": completion.bindings,
        "with_groups": completion.complete,
        "groups_rejected_by": _loss_facts(completion.group_losses),
        "impossible_by": _loss_facts(completion.losses),
        "breakers": [
            {
                "event": why.text(((each.event,),)),
                "condition": each.condition.text,
                "count": each.count,
                "example": why.text(each.example),
            }
            for each in completion.breakers
        ],
        "possible": completion.possible,
        "below_confidence": completion.below,
        "likeliest_below": None if completion.best is None else why.text(completion.best),
        "its_confidence": completion.best_confidence,
        "sampled": completion.sampled,
    }


def _loss_facts(losses: Sequence[Loss]) -> list[dict[str, Any]]:
    return [{"condition": each.condition.text, "count": each.count} for each in losses]
