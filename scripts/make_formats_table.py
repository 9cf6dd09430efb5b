"""Write the table of formats into docs/events.md, between its markers; with --check only compare."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cepctl.io.formats import known_formats

PAGE = Path(__file__).resolve().parent.parent / "docs" / "events.md"
START, END = "<!-- formats table -->", "<!-- end of formats table -->"


def formats_table() -> str:
    """One row for each format, in the order in which they are looked for."""
    lines = ["| format | what it is | of lines |", "|---|---|---|"]
    for known in known_formats():
        description = known.description.replace("|", "\\|")
        of_lines = "yes" if known.lines is not None else ""
        lines.append(f"| [`{known.name}`]({known.page}) | {description} | {of_lines} |")
    return "\n".join(lines)


def page_with_table(page: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{formats_table()}\n{END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    page = PAGE.read_text(encoding="utf-8")
    written = page_with_table(page)
    if parser.parse_args().check:
        if page != written:
            sys.stderr.write(
                "the table of formats in docs/events.md is not that of the code: run scripts/docs\n"
            )
        return int(page != written)
    PAGE.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
