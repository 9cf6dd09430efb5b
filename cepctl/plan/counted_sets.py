"""Kleene groups of which GROUP BY counts the sets instead of listing them: which queries have them.

Under any match every set of the events between its neighbours is a match, if it has as many members as
`count(b[])` asks for.  A member that lies there in every world changes neither the probability of a set nor
whether there is one: how many sets it makes is counted.

    asked of a group                          its sets are
    nothing, conditions on single members     counted
    count(b[]) <, <=, =, >=, > a number       counted
    any other aggregate, an order of members  listed
    negation beside it, several groups, OR    listed
"""

from __future__ import annotations

from dataclasses import replace

from cepctl.plan.group_sizes import CountedSets, sizes_asked
from cepctl.plan.plan import Alternative, Plan, Scope
from cepctl.plan.summary import kleene_components, listing_reasons, summary_refusals


def counted_sets(plan: Plan) -> CountedSets | None:
    """What is counted; None where groups are listed, or there are none."""
    if plan.group_by is None or len(plan.alternatives) != 1:
        return None
    alternative = plan.alternatives[0]
    groups = kleene_components(alternative)
    if len(groups) != 1 or alternative.reads_ends or alternative.components[groups[0]].ordered:
        return None
    others = tuple(link for link in alternative.links if link.scope is not Scope.GROUP)
    bare = replace(plan, alternatives=(replace(alternative, links=others),), returns=())
    if summary_refusals(bare) or listing_reasons(bare) or not _alone_in_its_place(alternative, groups[0]):
        return None
    return sizes_asked(alternative, groups[0])


def _alone_in_its_place(alternative: Alternative, group: int) -> bool:
    """Whether each member is compared with single events, and with nothing else."""
    unequal = any(each.not_equal and group in (each.left, each.right) for each in alternative.timings)
    return (group,) in alternative.blocks and not unequal
