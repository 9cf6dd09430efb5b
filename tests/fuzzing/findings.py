"""A failing case as files: events that `cepctl match` reads, the query, and both answers."""

from __future__ import annotations

from pathlib import Path

from cepctl.clocks.ties import ClockTie, ties_of
from tests.fuzzing.case_files import events_csv, laws_toml, query_of_file
from tests.fuzzing.workers import Judged


def keep(judged: Judged, folder: Path) -> str:
    """Write a failing case into a folder of its own below `folder`; its text."""
    place = folder / f"case-{judged.number}"
    place.mkdir(parents=True, exist_ok=True)
    (place / "events.csv").write_text(events_csv(judged.case), encoding="utf-8")
    if judged.case.laws:
        (place / "laws.toml").write_text(laws_toml(judged.case), encoding="utf-8")
    (place / "query.txt").write_text(f"{query_of_file(judged.case)}\n", encoding="utf-8")
    text = description(judged, place)
    (place / "answers.txt").write_text(text, encoding="utf-8")
    return text


def description(judged: Judged, place: Path) -> str:
    """The case, and both answers."""
    verdict = judged.verdict
    ties = "".join(map(_text_of, ties_of(judged.case.used_clocks)))
    laws = f" --laws {place}/laws.toml" if judged.case.laws else ""
    return (
        f"\n=== case {judged.number}: {verdict.reason} ({judged.case.check or 'rows alone'})\n"
        f"{judged.case.query}\n{events_csv(judged.case)}{ties}{laws_toml(judged.case)}"
        f"--- expected\n{verdict.expected}\n--- found\n{verdict.found}\n"
        f"--- cepctl match -f {place}/query.txt {place}/events.csv --time ticks{laws}\n"
    )


def _text_of(tie: ClockTie) -> str:
    """A tie, which a plain file of events cannot say."""
    return f"the offsets of {tie.before} and {tie.after} differ by {tie.ticks} at most\n"
