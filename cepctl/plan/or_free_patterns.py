"""The OR-free patterns that a pattern with OR stands for, its readings, and the variables that they bind.

OR distributes over SEQ and AND; SEQ in SEQ and AND in AND are flattened.  What may be absent is an OR, too:
of a reading with it and one without.  Negated and repeated composites, and what AND may not hold, are refused
by name.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise, product

from cepctl.errors import QueryTooLargeError
from cepctl.language.ast import ComponentPattern, Composite, Pattern, Span
from cepctl.language.messages import did_you_mean, name_list
from cepctl.language.printer import quantifier_text, type_text
from cepctl.plan.problems import QueryProblems

MAX_READINGS = 64
MAX_COMPONENTS = 64

BlockPattern = tuple[ComponentPattern, ...]
"""One component, or the members of a group: the negated ones of ISEQ come last."""


@dataclass(frozen=True)
class OrFreePattern:
    """One reading of a pattern, without OR: blocks of components in time order.

    `absent` are the optional components that it leaves out.  A block of negated components alone is
    `!AND(...)`, or `!SEQ(...)` if it is one of `sequences`.  `orders`: pairs of components of one block, the
    first of which comes strictly before the other, as in AND of a SEQ.  `repeated`: the components of each
    `SEQ(...)+`.
    """

    parts: tuple[BlockPattern, ...]
    absent: BlockPattern = ()
    sequences: tuple[BlockPattern, ...] = ()
    orders: tuple[tuple[ComponentPattern, ComponentPattern], ...] = ()
    repeated: tuple[BlockPattern, ...] = ()

    def before(self, other: OrFreePattern) -> OrFreePattern:
        """Both, one after the other."""
        return OrFreePattern(
            self.parts + other.parts,
            self.absent + other.absent,
            self.sequences + other.sequences,
            self.orders + other.orders,
            self.repeated + other.repeated,
        )

    @property
    def components(self) -> tuple[ComponentPattern, ...]:
        return tuple(component for block in self.parts for component in block)

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Indexes of the components, block by block."""
        indexes = iter(range(len(self.components)))
        return tuple(tuple(next(indexes) for _ in block) for block in self.parts)


def component_name(component: ComponentPattern) -> str:
    """Variable of a component in the plan: in lower case, or its types where it is unnamed."""
    if component.variable is not None:
        return component.variable.lower()
    return "|".join(component.event_types) or "*"


def or_free_patterns(
    pattern: Pattern, problems: QueryProblems, *, passed_over: bool = False
) -> tuple[OrFreePattern, ...]:
    """All readings, in the order of the text; what is refused goes to `problems`.

    `passed_over`: what may be absent is so in matches that pass it over, not in a reading without it.

    Raises
    ------
    QueryTooLargeError
        If there are more than MAX_READINGS, or one has more than MAX_COMPONENTS components.
    """
    found = tuple(_expand(pattern, problems))
    for each in found:
        _check_names(each.components, problems)
        if all(component.negated for component in each.components):
            problems.error(pattern.span, _NOTHING_BUT_OPTIONAL if each.absent else _NOTHING_POSITIVE)
            break
    return tuple(each for each in found if not (passed_over and each.absent))


_NOTHING_POSITIVE = "no positive component: a match needs an event that is there"
_NOTHING_BUT_OPTIONAL = (
    "every part may be absent, and a match needs an event that is there: leave out the ? of one, "
    "write + for *, or {1,n} for {0,n}"
)


def _expand(pattern: Pattern, problems: QueryProblems) -> list[OrFreePattern]:
    if isinstance(pattern, ComponentPattern):
        return _expand_component(pattern, problems)
    if pattern.negated and pattern.operator in ("SEQ", "AND"):
        return _absent_together(pattern, problems)
    if pattern.kleene and pattern.operator == "SEQ":
        return _repetitions(pattern, problems)
    _refuse_composite(pattern, problems)
    parts = [_expand(part, problems) for part in pattern.parts]
    if pattern.operator == "OR":
        _check_count(sum(map(len, parts)))
        return [reading for part in parts for reading in part]
    together = pattern.operator in ("AND", "ISEQ") and len(pattern.parts) > 1
    if together:
        parts = [[_branch(pattern, reading, problems) for reading in part] for part in parts]
    combined = [OrFreePattern(())]
    for part in parts:
        _check_count(len(combined) * len(part))
        combined = [before.before(reading) for before, reading in product(combined, part)]
        _check_size(combined)
    return [_grouped(pattern, reading, problems) for reading in combined] if together else combined


def _expand_component(pattern: ComponentPattern, problems: QueryProblems) -> list[OrFreePattern]:
    if pattern.negated and (pattern.kleene or pattern.quantifier):
        sign = quantifier_text(pattern)
        problems.error(pattern.span, f"'{sign}' has no meaning for absent events; write it without {sign}")
    elif pattern.running and (pattern.negated or not pattern.kleene or pattern.optional):
        shown = "|".join(map(type_text, pattern.event_types)) or "*"
        problems.error(
            pattern.span,
            f"RUNNING stands before a group of at least one event, as in RUNNING {shown}+ b[]",
        )
    reading = OrFreePattern(((pattern,),))
    return [reading, OrFreePattern((), (pattern,))] if pattern.optional else [reading]


def _absent_together(pattern: Composite, problems: QueryProblems) -> list[OrFreePattern]:
    """What must not happen as a whole: `!SEQ(X x, Y y)`, `!AND(X x, Y y)`."""
    members: list[ComponentPattern] = []
    for part in pattern.parts:
        if isinstance(part, ComponentPattern) and not (part.negated or part.kleene or part.quantifier):
            members.append(replace(part, negated=True))
        else:
            what = f"anything but single events in !{pattern.operator}(...)"
            problems.refuse(part.span, f"{what}; write one !{pattern.operator}(...) for each way")
    if pattern.kleene:
        problems.error(pattern.span, "'+' has no meaning for absent events; write it without +")
    block = tuple(members)
    in_order = len(block) > 1 and pattern.operator == "SEQ"
    return [OrFreePattern((block,), sequences=(block,) if in_order else ())]


def _repetitions(pattern: Composite, problems: QueryProblems) -> list[OrFreePattern]:
    """`SEQ(B b[], C c[])+`: single events one after the other, once or several times."""
    members: list[ComponentPattern] = []
    for part in pattern.parts:
        if isinstance(part, ComponentPattern) and part.repeated:
            members.append(part)
        else:
            what = "anything but single events in SEQ(...)+"
            problems.refuse(part.span, f"{what}; write SEQ of it so many times, joined by OR")
    return [OrFreePattern(tuple((each,) for each in members), repeated=(tuple(members),))]


def _branch(pattern: Composite, reading: OrFreePattern, problems: QueryProblems) -> OrFreePattern:
    """One part of AND: its blocks, if it has several, stay in order."""
    if pattern.operator == "ISEQ" or len(reading.parts) < 2:
        return reading
    positive = [tuple(each for each in block if not each.negated) for block in reading.parts]
    orders = list(reading.orders)
    for before, after in pairwise([block for block in positive if block]):
        orders += product(before, after)
    for place, block in enumerate(reading.parts):
        if len(block) > 1 and not positive[place]:
            problems.refuse(block[0].span, "!SEQ or !AND inside AND; write it next to the group")
        elif not positive[place]:
            before = next((each for each in reversed(positive[:place]) if each), ())
            after = next((each for each in positive[place + 1 :] if each), ())
            orders += [*product(before, block), *product(block, after)]
    return replace(reading, orders=tuple(orders))


def _grouped(pattern: Composite, reading: OrFreePattern, problems: QueryProblems) -> OrFreePattern:
    """The members of AND or ISEQ as one block; nothing where all of them are absent."""
    if not reading.parts:
        return reading
    if reading.repeated:
        problems.refuse(
            pattern.span, f"SEQ(...)+ inside {pattern.operator}; write it before or behind the group"
        )
    between = {id(later) for _, later in reading.orders} & {id(earlier) for earlier, _ in reading.orders}
    return replace(reading, parts=(_and_group(pattern, reading.parts, between, problems),))


def _check_count(count: int) -> None:
    if count > MAX_READINGS:
        raise QueryTooLargeError(
            f"the ORs of the pattern, and what may be absent, give more than {MAX_READINGS} combinations"
        )


def _check_size(combined: Iterable[OrFreePattern]) -> None:
    if any(len(reading.components) > MAX_COMPONENTS for reading in combined):
        raise QueryTooLargeError(f"the pattern has more than {MAX_COMPONENTS} components in one reading")


def _refuse_composite(pattern: Composite, problems: QueryProblems) -> None:
    if pattern.negated:
        hint = "; write !A|B x for either type" if pattern.operator == "OR" else ""
        problems.refuse(pattern.span, f"a negated {pattern.operator}: !{pattern.operator}(...){hint}")
    if pattern.kleene:
        hint = "; write A|B+ x[] for either type" if pattern.operator == "OR" else ""
        problems.refuse(pattern.span, f"a repeated {pattern.operator}: {pattern.operator}(...)+{hint}")


def _and_group(
    pattern: Composite, blocks: Iterable[BlockPattern], between: Container[int], problems: QueryProblems
) -> BlockPattern:
    """`between`: which components of branches come after one and before another, by their `id`."""
    members = tuple(component for block in blocks for component in block)
    if pattern.operator == "ISEQ" and any(
        isinstance(part, Composite) and part.operator == "SEQ" and len(part.parts) > 1
        for part in pattern.parts
    ):
        problems.refuse(pattern.span, "SEQ inside ISEQ")
    for member in members:
        if member.negated and pattern.operator == "AND" and id(member) not in between:
            problems.refuse(
                member.span,
                "negation inside AND but between two of a SEQ there; write it next to the group, as in "
                "SEQ(AND(A a, B b), !N n)",
            )
        if member.kleene and pattern.operator == "ISEQ":
            problems.refuse(member.span, "Kleene plus inside ISEQ")
        elif member.quantifier and pattern.operator == "ISEQ":
            problems.refuse(
                member.span,
                "a component of ISEQ that may be absent; write an OR of ISEQ with and without it",
            )
    if pattern.operator == "ISEQ" and any(
        isinstance(part, Composite) and _negates(part) for part in pattern.parts
    ):
        problems.refuse(pattern.span, f"a nested negation inside {pattern.operator}")
    if all(member.negated for member in members):
        problems.error(pattern.span, "only negations inside ISEQ: add an event to which they relate")
    return tuple(sorted(members, key=lambda member: member.negated))


def _negates(pattern: Pattern) -> bool:
    if isinstance(pattern, ComponentPattern):
        return pattern.negated
    return any(map(_negates, pattern.parts))


def _check_names(components: Iterable[ComponentPattern], problems: QueryProblems) -> None:
    seen: dict[str, ComponentPattern] = {}
    for component in components:
        name = component_name(component)
        other = seen.setdefault(name.lower(), component)
        if other is component:
            continue
        if component.variable is None and other.variable is None:
            problems.error(
                component.span, f"a second unnamed '{name}': name both, as in {name} x1, {name} x2"
            )
        else:
            problems.error(
                component.span, f"a second component called '{name}' (variables are case-insensitive)"
            )


@dataclass(frozen=True)
class VariableBinding:
    """What a query knows of a variable, whichever reading binds it."""

    name: str
    kleene: bool
    negated: bool


class VariableNames:
    """The variables of all readings, found without regard to case."""

    def __init__(self, patterns: Iterable[OrFreePattern], problems: QueryProblems) -> None:
        self.bindings: dict[str, VariableBinding] = {}
        for pattern in patterns:
            for component in pattern.components:
                self._bind(component, problems)

    def _bind(self, component: ComponentPattern, problems: QueryProblems) -> None:
        name = component_name(component)
        binding = VariableBinding(name, component.kleene, component.negated)
        known = self.bindings.setdefault(name.lower(), binding)
        if (known.kleene, known.negated) != (binding.kleene, binding.negated):
            problems.error(
                component.span, f"'{name}' is bound differently in another part of the OR: with + or ! there"
            )

    def find(self, name: str) -> VariableBinding | None:
        return self.bindings.get(name.lower())

    def resolve(self, name: str, span: Span, problems: QueryProblems) -> VariableBinding | None:
        """The binding of a variable; an unknown one goes to `problems`."""
        found = self.find(name)
        if found is None:
            known = [binding.name for binding in self.bindings.values()]
            nearest = did_you_mean(name, known) or f"; the pattern has {name_list(known)}"
            problems.error(span, f"no variable '{name}' in the pattern{nearest}")
        return found
