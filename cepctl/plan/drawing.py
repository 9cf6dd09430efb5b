"""A small drawing of a pattern: components in time order, what must be absent between them, the window."""

from __future__ import annotations

from cepctl.language.strategies import Strategy
from cepctl.plan.plan import Alternative, Component


def drawing(alternative: Alternative, strategy: Strategy, window: str | None) -> str:
    """Draw one reading; `window` is the text under it.

    Examples
    --------
    >>> from cepctl.language.parser import parse
    >>> from cepctl.plan import analyze
    >>> plan = analyze(parse("PATTERN SEQ(A a, !N n, B+ b[], AND(C c, D d)) WITHIN 9 ticks"))
    >>> print(drawing(plan.alternatives[0], plan.strategy, "< 9 ticks"))
    A a ──▶ no N n ──▶ B b+ ──▶ { C c, D d in any order }
    ╰──────────────────── < 9 ticks ────────────────────╯
    """
    parts = [_block([alternative.components[i] for i in block]) for block in alternative.blocks]
    line = strategy.arrow.join(parts)
    if window is None:
        return line
    text = f" {window} "
    return f"{line}\n╰{text.center(max(len(line) - 2, len(text)), '─')}╯"


def _block(components: list[Component]) -> str:
    shown = [_component(component) for component in components]
    return shown[0] if len(shown) == 1 else f"{{ {', '.join(shown)} in any order }}"


def _component(component: Component) -> str:
    types = "|".join(component.event_types) or "*"
    name = "" if component.variable == types else f" {component.variable}"
    return f"{'no ' if component.negated else ''}{types}{name}{'+' if component.kleene else ''}"
