"""Write the table of formats into docs/events.md, between its markers; with --check only compare."""

from __future__ import annotations

import sys

from made_pages import ROOT, replace_table, write_or_check

from cepctl.io.formats import known_formats

PAGE = ROOT / "docs" / "events.md"


def formats_table() -> str:
    """One row for each format, in the order in which they are looked for."""
    lines = ["| format | what it is | such as | of lines |", "|---|---|---|---|"]
    for known in known_formats():
        description = known.description.replace("|", "\\|")
        of_lines = "yes" if known.lines is not None else ""
        lines.append(
            f"| [`{known.name}`]({known.page}) | {description} | {', '.join(known.kinds)} | {of_lines} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, replace_table(PAGE, "formats table", formats_table())))
