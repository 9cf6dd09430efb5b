"""What the analyzer finds wrong, collected so that one message shows all of it."""

from __future__ import annotations

from cepctl.errors import QuerySemanticError, UnsupportedQueryError
from cepctl.language.ast import Span
from cepctl.language.messages import Problem, render


class QueryProblems:
    """Errors of the query, and meaningful constructs that are refused by name."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.errors: list[Problem] = []
        self.refusals: list[Problem] = []
        self.texts: list[str] = []

    def error(self, span: Span, message: str) -> None:
        self.errors.append(Problem(span, message))

    def refuse(self, span: Span, construct: str) -> None:
        """Refuse a construct that the language has but that nothing runs yet."""
        self.refusals.append(Problem(span, f"not supported yet: {construct}"))

    def raise_if_any(self) -> None:
        """Raise QuerySemanticError if there are errors, else UnsupportedQueryError for the refusals alone."""
        if self.errors:
            error = QuerySemanticError(render(self.text, [*self.errors, *self.refusals]))
            error.texts = tuple(self.texts)
            raise error
        if self.refusals:
            raise UnsupportedQueryError(render(self.text, self.refusals))
