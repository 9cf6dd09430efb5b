"""Pages that are made from the code: written, or with --check compared with what is there."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def write_or_check(path: Path, content: str) -> int:
    """Write a page, or say with --check that it is not as the code is; returns the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    if not parser.parse_args().check:
        path.write_text(content, encoding="utf-8")
        return 0
    if path.exists() and path.read_text(encoding="utf-8") == content:
        return 0
    sys.stderr.write(f"{path.relative_to(ROOT)} is not as the code is: run scripts/docs\n")
    return 1


def replace_table(path: Path, name: str, table: str) -> str:
    """The page with a table as it is now, between the markers that carry its name."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = path.read_text(encoding="utf-8").partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n{table}\n{end}{after}"
