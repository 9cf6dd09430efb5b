"""Sorting the conjuncts of WHERE by what an engine does with them, for one reading of the pattern.

reads                                              becomes
one component, its own attributes                  a filter of the component
several components                                 a link, checked when the last of them is bound
b[i-k], b[1..i-1], b[1..i], b[first], b[last]      a link over the order of a group
avg(b[].x) and the like                            a link that filters the finished group
a.time                                             a timing constraint
a component that this reading does not have        nothing: it does not apply to the reading
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from cepctl.language.ast import (
    Aggregate,
    Allen,
    Attribute,
    Binary,
    Constant,
    EventTime,
    Expression,
    Probability,
    Variable,
)
from cepctl.language.traversal import rewrite, variables_read, walk
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.or_free_patterns import OrFreePattern, component_name
from cepctl.plan.plan import (
    Alternative,
    Component,
    Equality,
    Link,
    MemberTiming,
    Scope,
    Timing,
)
from cepctl.plan.problems import QueryProblems
from cepctl.plan.relations import Case
from cepctl.plan.timings import Difference

_MORE_THAN_ANY = 1 << 40
"""No group has so many members."""


@dataclass(frozen=True)
class Conjunct:
    """One conjunct of WHERE; `differences` is what it says about times, None for a value predicate.

    Of several `cases` one holds.  Of several `readings`, no two of which hold at once, each makes a reading
    of the pattern.
    """

    expression: Expression
    differences: tuple[Difference, ...] | None = None
    cases: tuple[Case, ...] = ()
    readings: tuple[tuple[Difference, ...], ...] = ()


@dataclass
class _Sorted:
    filters: dict[int, list[Expression]] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    equalities: list[Equality] = field(default_factory=list)
    timings: list[Timing] = field(default_factory=list)
    member_timings: list[MemberTiming] = field(default_factory=list)
    choices: list[tuple[tuple[Timing, ...], ...]] = field(default_factory=list)


def alternative_of(
    pattern: OrFreePattern,
    conjuncts: Sequence[Conjunct],
    ordered: frozenset[str],
    problems: QueryProblems,
    *,
    lasting: bool = False,
    passed_over: bool = False,
) -> Alternative:
    """One reading with the predicates that apply to it.

    `ordered` holds the lower-case names of the Kleene variables that WHERE or RETURN reads in order.
    `lasting`: some event has an end, before which nothing comes after it.  `passed_over` as in
    `or_free_patterns`.
    """
    names = [component_name(component) for component in pattern.components]
    index = {name.lower(): i for i, name in enumerate(names)}
    found = _Sorted()
    for conjunct in conjuncts:
        if all(name.lower() in index for name in variables_read(conjunct.expression)):
            _sort(conjunct, pattern, index, found, problems)
    components = tuple(
        Component(
            name,
            component.event_types,
            component.negated,
            component.kleene,
            component.repeated or (component.kleene and name.lower() in ordered),
            tuple(found.filters.get(i, ())),
            component.how_many.least,
            component.how_many.most,
            component.running,
        )
        for i, (name, component) in enumerate(zip(names, pattern.components, strict=True))
    )
    bounds = (link for i, component in enumerate(components) for link in _bounds(i, component))
    orders = _orders(pattern)
    alternative = Alternative(
        components,
        pattern.blocks,
        (*found.links, *bounds),
        tuple(found.equalities),
        (*found.timings, *(Timing(*pair, -1, left_end=lasting) for pair in orders)),
        tuple(found.choices),
        tuple(component_name(component) for component in pattern.absent),
        tuple(pattern.blocks[pattern.parts.index(parts)] for parts in pattern.sequences),
        tuple(found.member_timings),
        passed_over and any(component.optional for component in pattern.components),
        tuple(tuple(pattern.components.index(each) for each in turn) for turn in pattern.repeated),
        orders,
    )
    for i in alternative.absent_anywhere:
        if not any(i in read and len(read) > 1 for read in _read_together(alternative)):
            problems.error(
                pattern.components[i].span,
                f"nothing ties !{names[i]} to the other components of ISEQ: "
                "say in WHERE where it must not be, as in n DURING a",
            )
    return alternative


def in_cases(
    pattern: OrFreePattern, conjuncts: Sequence[Conjunct], problems: QueryProblems
) -> Iterator[tuple[Conjunct, ...]]:
    """The conjuncts of each reading that conditions on times joined by OR make of a pattern."""
    names = {component_name(component).lower(): component for component in pattern.components}
    ways: list[list[Conjunct]] = []
    for each in conjuncts:
        read = [names.get(name.lower()) for name in variables_read(each.expression)]
        if not each.readings or None in read:
            ways.append([each])
            continue
        for component in read:
            if component is not None and component.negated:
                problems.refuse(
                    each.expression.span,
                    "OR, NOT or IN of conditions on the time of an absent component; write one absent "
                    "component for each, as in !N n, !N m",
                )
        ways.append([replace(each, differences=case, readings=()) for case in each.readings])
    yield from product(*ways)


def _orders(pattern: OrFreePattern) -> tuple[tuple[int, int], ...]:
    """What stands in order inside AND."""
    place = {id(component): i for i, component in enumerate(pattern.components)}
    return tuple((place[id(earlier)], place[id(later)]) for earlier, later in pattern.orders)


def _bounds(number: int, component: Component) -> Iterator[Link]:
    """What `{m,n}` says of a finished group, as `count(b[]) >= m` and `count(b[]) <= n` would."""
    if not component.counted:
        return
    count = Aggregate("count", component.variable, None)
    if component.least > 1:
        least = Binary(">=", count, Constant(min(component.least, _MORE_THAN_ANY)))
        yield Link(least, (number,), number, Scope.GROUP)
    if component.most is not None:
        most = Binary("<=", count, Constant(min(component.most, _MORE_THAN_ANY)))
        yield Link(most, (number,), number, Scope.GROUP)


def _read_together(alternative: Alternative) -> Iterator[set[int]]:
    """The components that one condition reads, of every condition that reads several."""
    yield from (set(link.components) for link in alternative.links)
    timings = [*alternative.timings, *(timing for cases in alternative.choices for timing in cases[0])]
    for timing in timings:
        yield {side for side in (timing.left, timing.right) if side is not None}


def with_usable_keys(alternative: Alternative, schema: EventSchema | None) -> Alternative:
    """Only columns of one type are join keys: 1 = 1.0 holds, but their bytes differ."""
    types = schema.readable if schema else {}
    usable = (
        each
        for each in alternative.equalities
        if types.get(each.left_attribute) == types.get(each.right_attribute)
    )
    return replace(alternative, equalities=tuple(usable))


def ordered_variables(expressions: Sequence[Expression]) -> frozenset[str]:
    """Lower-case names of the Kleene variables that some expression reads in their order."""
    return frozenset(name for each in expressions for name in _read_in_order(each))


def resolved(expression: Expression, names: Mapping[str, str]) -> Expression:
    """The expression with its variables spelt as in the plan; `names` maps from lower case."""

    def change(each: Expression) -> Expression:
        if isinstance(each, Attribute | EventTime | Aggregate):
            return replace(each, variable=names.get(each.variable.lower(), each.variable))
        if isinstance(each, Variable):
            return replace(each, name=names.get(each.name.lower(), each.name))
        return each

    return rewrite(expression, change)


def _sort(
    conjunct: Conjunct,
    pattern: OrFreePattern,
    index: Mapping[str, int],
    found: _Sorted,
    problems: QueryProblems,
) -> None:
    if conjunct.differences is not None:
        _sort_differences(conjunct, pattern, index, found, problems)
        return
    names = {name: component_name(pattern.components[i]) for name, i in index.items()}
    expression = resolved(conjunct.expression, names)
    read = sorted({index[name.lower()] for name in variables_read(expression)})
    scope = _scope(expression)
    of_laws = any(isinstance(each, Probability) for each in walk(expression))
    if len(read) <= 1 and scope is Scope.EVENT and not of_laws:
        # A condition that reads no event holds or fails for all: any component may carry it.
        carrier = read[0] if read else _first_positive(pattern)
        found.filters.setdefault(carrier, []).append(expression)
        return
    decides = _decides(read, pattern, conjunct.expression, problems)
    expression = _taken_so_far(expression, _in_turn(pattern, decides))
    found.links.append(Link(expression, tuple(read), decides, _scope(expression)))
    found.equalities.extend(_equality(expression, index))


def _sort_differences(
    conjunct: Conjunct,
    pattern: OrFreePattern,
    index: Mapping[str, int],
    found: _Sorted,
    problems: QueryProblems,
) -> None:
    read = sorted({index[name.lower()] for name in variables_read(conjunct.expression)})
    negated = [i for i in read if pattern.components[i].negated]
    decides = _decides(read, pattern, conjunct.expression, problems)
    if negated and conjunct.differences and isinstance(conjunct.expression, Allen):
        # All of it belongs to the negated component, also what speaks of the other event alone.
        found.choices.append((tuple(_timing(each, index) for each in conjunct.differences),))
        return
    for difference in conjunct.differences or ():
        ends = [None if name is None else index[name] for name in (difference.left, difference.right)]
        if ends == [None, None]:
            # Of a negated component it is part of fitting: nothing fits then, and the negation holds.
            carrier = decides if negated else _first_positive(pattern)
            found.filters.setdefault(carrier, []).append(Constant(False))
        elif negated and decides not in ends:
            name = component_name(pattern.components[decides])
            message = f"{name}.time cancels out of this condition; leave it out"
            problems.error(conjunct.expression.span, message)
        elif difference.left_member or difference.right_member:
            of_members = difference.left_member, difference.right_member
            found.member_timings.append(MemberTiming(*_sides(difference, index), *of_members))
        else:
            found.timings.append(_timing(difference, index))
    if conjunct.cases:
        found.choices.append(tuple(tuple(_timing(each, index) for each in case) for case in conjunct.cases))


def _timing(difference: Difference, index: Mapping[str, int]) -> Timing:
    return Timing(*_sides(difference, index))


def _sides(
    difference: Difference, index: Mapping[str, int]
) -> tuple[int | None, int | None, int, bool, bool, bool]:
    left, right = (None if name is None else index[name] for name in (difference.left, difference.right))
    return left, right, difference.bound, difference.not_equal, difference.left_end, difference.right_end


def _scope(expression: Expression) -> Scope:
    if next(_read_in_order(expression), None) is not None:
        return Scope.ORDER
    if any(isinstance(each, Aggregate) for each in walk(expression)):
        return Scope.GROUP
    return Scope.EVENT


def _read_in_order(expression: Expression) -> Iterator[str]:
    for each in walk(expression):
        if isinstance(each, Attribute | EventTime):
            if each.member in ("previous", "first", "last"):
                yield each.variable.lower()
        elif isinstance(each, Aggregate) and each.before:
            yield each.variable.lower()


def _in_turn(pattern: OrFreePattern, component: int) -> set[str]:
    """The variables of what takes events in turn with a component, its own among them."""
    own = pattern.components[component]
    return {component_name(each) for each in next((t for t in pattern.repeated if own in t), (own,))}


def _taken_so_far(expression: Expression, decides: Container[str]) -> Expression:
    """Where another component decides, `b[..i]` are all members of b, as they are taken then."""

    def change(each: Expression) -> Expression:
        if isinstance(each, Aggregate) and each.own and each.variable not in decides:
            return replace(each, before=False, own=False)
        return each

    return rewrite(expression, change)


def _decides(
    read: Sequence[int], pattern: OrFreePattern, expression: Expression, problems: QueryProblems
) -> int:
    negated = [i for i in read if pattern.components[i].negated]
    if len(negated) > 1 and not any(set(negated) <= set(block) for block in pattern.blocks):
        problems.error(
            expression.span,
            "a condition may name only one negated component: two absences cannot be compared",
        )
    # Of what must not happen as a whole the last part decides.
    return negated[-1] if negated else max(read, default=0)


def _first_positive(pattern: OrFreePattern) -> int:
    return next((i for i, component in enumerate(pattern.components) if not component.negated), 0)


def _equality(expression: Expression, index: Mapping[str, int]) -> Iterator[Equality]:
    match expression:
        case Binary("=", Attribute() as left, Attribute() as right):
            sides = index[left.variable.lower()], index[right.variable.lower()]
            if sides[0] != sides[1] and {left.member, right.member} <= {None, "each"}:
                yield Equality(sides[0], left.name, sides[1], right.name)
