"""Write docs/papers.md: the papers' queries, and how cepctl explains each; with --check only compare.

Which strategies run a query, and why the others do not, is what `analyze` and the table of support say now.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace

from made_pages import ROOT, write_or_check
from paper_queries import PAPER_QUERIES, WORKS, PaperQuery

from cepctl.errors import CepctlError
from cepctl.language.ast import Query, StrategyClause
from cepctl.language.parser import parse
from cepctl.language.strategies import STRATEGIES
from cepctl.library.explain import explained
from cepctl.library.laws import LawChoice
from cepctl.library.options import raw_input
from cepctl.plan.analyze import analyze
from cepctl.plan.support import engine_refusals
from cepctl.process.memory import default_budget

PAGE = ROOT / "docs" / "papers.md"
HEAD = """# The papers' queries

{count} queries and forms of writing from five papers, and from SASE and SASE+, as cepctl explains them.
The [glossary](glossary.md) names the works; [the language](language.md) says what each word means.
This page is made from the program: what it says of a query is what `cepctl explain` says.

The columns are the four [strategies](language.md#strategies). Under a strategy the event engine runs a query,
it is refused by name, or the strategy does not apply: without a key there is no contiguity by key, and a
group at the end of a pattern needs a window.

{table}

## What is refused

{refused}
"""
_WIDTH = 116
_NEEDED = ("partition_contiguity", "needs WITHIN")
"""Of refusals: what a query lacks that a strategy asks for."""
_LAST_LINES = ("Engine ", "Confidence ", "Reads ")
"""Lines of an explanation from which on it tells of how and not of what."""


def page() -> str:
    """The whole page."""
    answers = [Answer.of(query) for query in PAPER_QUERIES]
    titles = list(map(_title, STRATEGIES))
    head = f"| query | {' | '.join(titles)} |\n|---{'|---' * len(titles)}|"
    rows = [f"| [{each.query.name}](#{each.anchor}) | {' | '.join(each.cells())} |" for each in answers]
    text = HEAD.format(
        count=len(answers), table="\n".join([head, *rows]), refused="\n".join(_refused(answers))
    )
    for work, title in WORKS.items():
        own = [each for each in answers if each.query.work == work]
        text += f"\n## {title}\n\n" + "\n".join(each.section() for each in own)
    return text


@dataclass(frozen=True)
class Answer:
    """A query, and by strategy why it is not run; None where it is."""

    query: PaperQuery
    why_not: dict[str, str | None]

    @classmethod
    def of(cls, query: PaperQuery) -> Answer:
        """Ask of every strategy."""
        return cls(query, {word: _why_not(query.text, word) for word in STRATEGIES})

    @property
    def anchor(self) -> str:
        """That of its heading."""
        kept = (letter for letter in self.query.name.lower() if letter.isalnum() or letter in "- ")
        return "".join(kept).replace(" ", "-")

    def cells(self) -> list[str]:
        """What the table says of each strategy."""
        return ["runs" if why is None else _kind(why) for why in self.why_not.values()]

    def section(self) -> str:
        """Its heading, text and explanation under the strategy that is written, or the first that runs it."""
        query = self.query
        note = f"{query.note[:1].upper()}{query.note[1:]}.\n\n" if query.note else ""
        written = "\n".join(textwrap.wrap(query.text, _WIDTH, break_long_words=False, subsequent_indent="  "))
        return f"### {query.name}\n\n{note}```sql\n{written}\n```\n\n```text\n{self._explanation()}\n```\n"

    def _explanation(self) -> str:
        runs = [word for word, why in self.why_not.items() if why is None]
        if not runs:
            return next(why for why in self.why_not.values() if why)
        shown = explained(
            _under(parse(self.query.text), runs[0]), (), "auto", default_budget(), raw_input({}), LawChoice()
        )
        kept = []
        for line in repr(shown).splitlines():
            if line.startswith(_LAST_LINES):
                break
            kept.append(line.rstrip())
        return "\n".join(kept).strip()


def _under(query: Query, word: str) -> Query:
    """The query under another strategy."""
    return replace(query, strategy=StrategyClause(STRATEGIES[word]))


def _why_not(text: str, word: str) -> str | None:
    """Why the event engine does not run it under a strategy."""
    try:
        plan = analyze(_under(parse(text), word))
    except CepctlError as problem:
        return str(problem).partition("\n")[0].partition(": ")[2]
    lacking = engine_refusals(plan, "event")
    return f"not supported yet: {', '.join(lacking)}" if lacking else None


def _kind(why: str) -> str:
    """A key or a window that is not there is not the query's fault, nor the program's."""
    return "does not apply" if any(each in why for each in _NEEDED) else "refused"


def _refused(answers: list[Answer]) -> Iterator[str]:
    """Each refusal once, with the queries and strategies that it stands for."""
    found: dict[str, dict[str, list[str]]] = {}
    for answer in answers:
        for word, why in answer.why_not.items():
            if why is not None and _kind(why) == "refused":
                said = why.removeprefix("not supported yet: ")
                found.setdefault(said, {}).setdefault(answer.query.name, []).append(_title(word))
    if not found:
        yield "None of them under any strategy."
    for why, queries in found.items():
        line = "; ".join(f"{name} ({', '.join(words)})" for name, words in queries.items())
        yield "\n".join(textwrap.wrap(f"- {why}: {line}", _WIDTH, subsequent_indent="  "))


def _title(word: str) -> str:
    return STRATEGIES[word].title


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page()))
