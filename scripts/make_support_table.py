"""Write the table of what runs where into README.md, between its markers; with --check only compare."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cepctl.plan.support import support_table

PAGE = Path(__file__).resolve().parent.parent / "README.md"
START, END = "<!-- support table -->", "<!-- end of support table -->"
LEAD = """Which engines run each construct under each strategy; what no engine runs is refused by name.
`cepctl explain` says it for one query, `cepctl explain --support` prints this table."""


def page_with_table(page: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{LEAD}\n\n{support_table()}\n{END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    page = PAGE.read_text(encoding="utf-8")
    written = page_with_table(page)
    if parser.parse_args().check:
        if page != written:
            sys.stderr.write("the table of support in README.md is not that of the code: run scripts/docs\n")
        return int(page != written)
    PAGE.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
