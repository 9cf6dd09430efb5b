"""Laws of order of a plan: those of the events that say something, with attributes that the events have."""

from __future__ import annotations

from collections.abc import Sequence

from cepctl.errors import QuerySemanticError, UnsupportedQueryError
from cepctl.language.messages import did_you_mean, name_list
from cepctl.laws.choices import LAW, LAWLESS
from cepctl.laws.law import OrderLaw
from cepctl.plan.checking import READABLE_COLUMNS
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan, ReturnColumn


def laws_of(schema: EventSchema | None, returns: Sequence[ReturnColumn]) -> tuple[OrderLaw, ...]:
    """The laws that the events are under; one whose factors are all 1 changes nothing and is left out.

    Raises
    ------
    QuerySemanticError
        If a law reads an attribute that no event has, or a column of RETURN has a name of its columns.
    """
    laws = tuple(each for each in schema.laws if each.following or each.before) if schema else ()
    for law in laws:
        for name in (law.by, *law.step):
            _require_attribute(name, law, schema)
    for column in returns if laws else ():
        if column.name in (LAWLESS, LAW):
            raise QuerySemanticError(
                f"under a law of order '{column.name}' is a column of its own: give it another name with AS"
            )
    return laws


def law_name(law: OrderLaw) -> str:
    """How messages call a law."""
    return f"the law of order of each {law.by}"


def law_text(law: OrderLaw) -> str:
    """The name of a law, with how much it says."""
    counts = {"of what comes next": len(law.following), "of what comes before": len(law.before)}
    said = [
        f"{count:,} factor{'' if count == 1 else 's'} {of_what}" for of_what, count in counts.items() if count
    ]
    return f"of the order of each {law.by}, in steps of {'+'.join(law.step)}: {', '.join(said)}"


def refuse_laws(plan: Plan, what: str) -> None:
    """Raise UnsupportedQueryError, naming `what` was asked and the law, where events are under one."""
    if plan.laws:
        raise UnsupportedQueryError(
            f"not supported yet: {what} under {law_name(plan.laws[0])}; leave one of them out "
            "(--no-laws leaves out that of the dataset)"
        )


def _require_attribute(name: str, law: OrderLaw, schema: EventSchema | None) -> None:
    if schema is None or name in schema.readable or name in READABLE_COLUMNS:
        return
    known = sorted(schema.attributes)
    nearest = did_you_mean(name, known) or f"; they have {name_list(known) or 'none'}"
    raise QuerySemanticError(
        f"{law_name(law)} reads the attribute '{name}', which no event has{nearest}; correct by and step of "
        "its [[law]], or leave it out (--no-laws leaves out that of the dataset)"
    )
