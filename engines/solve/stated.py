"""Which methods the matches of a query may need, told before events are read; which measured a match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from cepctl.engines.confidence.work import Guarantee, Method
from cepctl.engines.pattern.shapes import absences_of, shape_of
from cepctl.engines.pattern.total_orders import total_orders
from cepctl.engines.solve.batch import Form
from cepctl.engines.solve.methods import METHODS
from cepctl.plan.unrolled import with_members

if TYPE_CHECKING:
    from cepctl.plan.plan import Alternative, Plan

_Method: TypeAlias = Method[Any, Any, Any]


@dataclass(frozen=True)
class StatedMethod:
    """What is known of a method: its name, of which matches it is, how exact, and the most that it takes."""

    method: str
    why: str
    guarantee: str
    most_products: int | None


def methods_of(plan: Plan, alternative: Alternative) -> list[StatedMethod]:
    """All that are asked for matches of one reading, in their order; each takes what those before leave."""
    return [stated(each) for each in _asked(form_of(plan, alternative))]


def form_of(plan: Plan, alternative: Alternative) -> Form:
    """What the matches of one reading have in common, whatever the events are."""
    runs = alternative.in_runs(plan.strategy)
    shape = shape_of(plan, with_members(alternative, 2) if runs else alternative)
    lasting = plan.of_intervals or alternative.reads_ends
    depends = {"on_clocks": bool(plan.clocks), "given": bool(plan.given), "under_law": bool(plan.laws)}
    return Form(shape, bool(absences_of(shape)), lasting=lasting, **depends)


def methods_named(names: Iterable[str]) -> tuple[StatedMethod, ...]:
    """Those that were heard of while a match was measured, what is summed after what sums it."""
    heard = set(names)
    found: list[_Method] = [each for each in METHODS if each.name in heard]
    if len(found) < len(heard):
        found += (each for each in _sums() if each.name in heard)
    return tuple(stated(each) for each in found)


def _asked(form: Form) -> Iterator[_Method]:
    taking = [each for each in METHODS if each.takes(form)]
    if form.in_each_order:
        chain = next(total_orders(form.shape)).chain
        yield from (each for each in taking if each.guarantee is not Guarantee.EXACT)
        yield from _asked(replace(form, shape=chain))
        return
    yield from taking
    if form.lasting:
        yield from _sums()
    elif any(each.guarantee is Guarantee.PARTS for each in taking):
        if form.tied and form.on_clocks:
            # At offsets that are known events are tied, and share no clock.
            yield from (each for each in METHODS if each.takes(replace(form, on_clocks=False)))
        yield from _asked(
            replace(form, on_clocks=form.on_clocks and form.given, given=False, under_law=False)
        )


def _sums() -> Iterable[_Method]:
    from cepctl.engines.confidence.intervals.sums import SUMS

    return SUMS


def stated(method: _Method) -> StatedMethod:
    """What is known of a method."""
    return StatedMethod(method.name, method.why, method.guarantee.value, method.most_products)
