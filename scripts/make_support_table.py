"""Write the table of what runs where into docs/support.md, between its markers; with --check only compare."""

from __future__ import annotations

import sys

from made_pages import ROOT, replace_table, write_or_check

from cepctl.plan.support import support_table

PAGE = ROOT / "docs" / "support.md"
LEAD = """A construct that no engine runs under a strategy is refused by name.
`cepctl explain` answers for one query; `cepctl explain --support` prints this table."""


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, replace_table(PAGE, "support table", f"{LEAD}\n\n{support_table()}")))
