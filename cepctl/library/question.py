"""A question: the query, which of its matches are wanted, and how they are to be found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepctl.language.ast import Query
    from cepctl.library.options import SketchUse
    from cepctl.library.raw_input import RawInput
    from cepctl.library.selection import Matching
    from cepctl.matching.execution import Execution
    from cepctl.plan.choices import KleeneRows


@dataclass(frozen=True)
class Question:
    """A query, which of its matches are wanted, and how they are to be found.

    `judged`: rows are held to raw times, for the summary; `columns` will be asked of the rows; `lawless`: one
    that says what is without a law of order is added; `sketch`: whether sketches tell what is not read.
    """

    text: str
    query: Query
    matching: Matching
    kleene: KleeneRows
    raw_input: RawInput
    execution: Execution
    judged: bool
    columns: tuple[str, ...] = ()
    lawless: bool = False
    sketch: SketchUse = "off"
