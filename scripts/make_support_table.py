"""Write the table of what runs where into README.md, between its markers; with --check only compare."""

from __future__ import annotations

import sys

from made_pages import ROOT, replace_table, write_or_check

from cepctl.plan.support import support_table

PAGE = ROOT / "README.md"
LEAD = """Which engines run each construct under each strategy; what no engine runs is refused by name.
`cepctl explain` says it for one query, `cepctl explain --support` prints this table."""


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, replace_table(PAGE, "support table", f"{LEAD}\n\n{support_table()}")))
