"""`--kleene summary`: which queries have one, and the readings of their pattern that it is made from.

A summary has one row for each binding of the single events around a group, and stands for every group
between them: one row for a group alone.  Where any part of a possible group is possible too, two readings
without groups say all of it: with one member in the group's place, and with nothing in it.  Else groups are
listed (`listing_reasons`).
"""

from __future__ import annotations

from dataclasses import replace

from cepctl.errors import UnsupportedQueryError
from cepctl.language.ast import Aggregate, Attribute, EventTime, Expression, ReachedTick, Variable
from cepctl.language.traversal import walk
from cepctl.plan.choices import KleeneRows
from cepctl.plan.group_sizes import sizes_asked
from cepctl.plan.plan import Alternative, Link, Plan, Scope
from cepctl.plan.rising_values import rising_values


def require_summary(plan: Plan) -> None:
    """Raise UnsupportedQueryError, naming the constructs, unless the plan has a summary."""
    lacking = summary_refusals(plan)
    if lacking:
        raise UnsupportedQueryError(
            f"--kleene summary does not run {', '.join(lacking)}; --kleene groups lists the groups one by one"
        )


def summary_refusals(plan: Plan) -> tuple[str, ...]:
    """What keeps a plan from being summarised, in words."""
    if any(component.running for each in plan.alternatives for component in each.components):
        return ("RUNNING, which has a row for each of its groups",)
    if any(each.repeated for each in plan.alternatives):
        return ("SEQ(...)+",)
    if any(alternative.absent or alternative.passes_over for alternative in plan.alternatives):
        return ("a component that may be absent",)
    if len(plan.alternatives) > 1:
        return ("OR",)
    alternative = plan.alternatives[0]
    groups = kleene_components(alternative)
    if len(groups) != 1:
        return ("several Kleene groups in one pattern" if groups else "a pattern without a Kleene group",)
    variable, found = alternative.components[groups[0]].variable, []
    if any(_reads(column.expression, variable) for column in plan.returns):
        found.append(f"RETURN of {variable}[], which stands for many groups")
    if any(isinstance(each, ReachedTick) for column in plan.returns for each in walk(column.expression)):
        found.append("reached(...), which differs between the groups of a row")
    return tuple(dict.fromkeys(found))


def listing_reasons(plan: Plan) -> tuple[str, ...]:
    """Why the groups of a plan that has a summary are listed for it, in words; none where nothing asks it."""
    if plan.strategy.whole_groups:
        return (f"{plan.strategy.word}, under which the events left out decide a group",)
    (alternative,) = plan.alternatives
    (group,) = kleene_components(alternative)
    found = _at_its_place(alternative, group)
    if stands_alone(alternative):
        found.append("a Kleene group between no events")
    if alternative.member_timings:
        found.append("a condition on the time of the first or last member of a group")
    if alternative.absent_together:
        found.append("!SEQ or !AND")
    if (group,) not in alternative.blocks:
        found.append("a Kleene group inside AND")
    sizes, variable = sizes_asked(alternative, group), alternative.components[group].variable
    if sizes is None:
        found.append(f"a predicate over an aggregate of {variable}[]")
    elif sizes.least > 1 or sizes.most == 0:
        found.append(f"a least number of members of {variable}[]")
    if any(_reads_ends(link) for link in alternative.links):
        found.append(f"a predicate over the first or last member of {variable}[]")
    return tuple(dict.fromkeys(found))


def summary_text(plan: Plan) -> str | None:
    """What `--kleene summary` does for a plan, in words; None where there is no group, or keys are asked for.

    Examples
    --------
    >>> from cepctl.language.parser import parse
    >>> from cepctl.plan.analyze import analyze
    >>> summary_text(analyze(parse("PATTERN SEQ(A a, B+ b[]) WHERE b[i].x > b[i-1].x WITHIN 9 ticks"), None))
    '--kleene summary lists no group'
    """
    if plan.group_by is not None or not any(kleene_components(each) for each in plan.alternatives):
        return None
    refused = summary_refusals(plan)
    if refused:
        return f"--kleene summary does not run {', '.join(refused)}"
    listed = listing_reasons(plan)
    if listed:
        return f"--kleene summary lists the groups, for {', '.join(listed)}"
    if lists_no_group(plan):
        return "--kleene summary lists no group"
    return "--kleene summary lists the groups to count them, for an order that is not that of one value"


def lists_no_group(plan: Plan) -> bool:
    """Whether a plan has a summary for which no group is listed, not even to count them."""
    if summary_refusals(plan) or listing_reasons(plan):
        return False
    (alternative,) = plan.alternatives
    ordered = any(link.scope is Scope.ORDER for link in alternative.links)
    return not ordered or rising_values(alternative) is not None


def kleene_components(alternative: Alternative) -> tuple[int, ...]:
    """Indexes of the Kleene components."""
    return tuple(i for i, component in enumerate(alternative.components) if component.kleene)


def stands_alone(alternative: Alternative) -> bool:
    """Whether one group is all that is bound: its summary is one row, of all groups of the input."""
    return alternative.positive == kleene_components(alternative) and len(alternative.positive) == 1


def owning_component(alternative: Alternative, rows: KleeneRows) -> int:
    """The component whose event decides which slice of time a row belongs to."""
    if rows == "groups" or stands_alone(alternative):
        return alternative.positive[0]
    return next(i for i in alternative.positive if not alternative.components[i].kleene)


def owning_components(alternative: Alternative, rows: KleeneRows) -> tuple[int, ...]:
    """The components of which one may be that: all up to the first that no match passes over.

    Of components that take events in turn the owner is the member that begins first, of whichever it is.
    """
    order = alternative.positive
    if alternative.passes_over:
        sure = next(place for place, i in enumerate(order) if alternative.components[i].least)
        first = order[: sure + 1]
    else:
        first = (owning_component(alternative, rows),)
    return tuple(dict.fromkeys(i for each in first for i in alternative.turn(each)))


def with_one_member(alternative: Alternative, group: int) -> Alternative:
    """The reading in which a single event stands in the group's place; predicates over order fall away."""
    components = list(alternative.components)
    components[group] = replace(components[group], kleene=False, ordered=False, least=1, most=1)
    links = tuple(link for link in alternative.links if link.scope is Scope.EVENT)
    return replace(alternative, components=tuple(components), links=links)


def with_nothing(alternative: Alternative, group: int) -> Alternative:
    """The reading in which no event that could be a member lies in the group's place: a negation."""
    components = list(alternative.components)
    components[group] = replace(components[group], kleene=False, ordered=False, negated=True)
    links = tuple(
        replace(link, decides=group) if group in link.components else link
        for link in alternative.links
        if link.scope is Scope.EVENT
    )
    return replace(alternative, components=tuple(components), links=links)


def _at_its_place(alternative: Alternative, group: int) -> list[str]:
    """What stands beside the group so that its members decide more than their own presence."""
    negated = {i for i, component in enumerate(alternative.components) if component.negated}
    last = len(alternative.components) - 1
    beside = {group - 1, group + 1} & negated
    # A leading or trailing negation looks as far as the window from the other end of the match.
    at_edges = {0, last} & negated if group in (alternative.positive[0], alternative.positive[-1]) else set()
    found = ["a negation whose gap ends at the Kleene group"] if beside or at_edges else []
    ties: list[set[int | None]] = [set(link.components) for link in alternative.links]
    ties += [{each.left, each.right} for each in alternative.timings]
    if any(group in tied and tied & negated for tied in ties):
        found.append("a condition between a negated component and the Kleene group")
    return found


def _reads_ends(link: Link) -> bool:
    """Whether a predicate asks of a group what its single members do not answer."""
    return link.scope is Scope.ORDER and any(
        (isinstance(each, Attribute | EventTime) and each.member in ("first", "last"))
        or (isinstance(each, Aggregate) and not each.before)
        for each in walk(link.expression)
    )


def _reads(expression: Expression, variable: str) -> bool:
    return any(
        (each.name if isinstance(each, Variable) else getattr(each, "variable", "")).lower()
        == variable.lower()
        for each in walk(expression)
    )
