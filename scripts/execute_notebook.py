"""Run docs/notebook.ipynb in a Jupyter kernel and keep what its cells show; with --check only compare.

Needs the extra `notebook`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "notebook.ipynb"
WIDTH = 120
SECONDS = re.compile(r"\d+\.\d s\b")
"""How long a run took, which is another time each time."""


def executed(notebook: Any) -> Any:
    """The notebook with the outputs of a fresh run in its own folder."""
    os.environ["COLUMNS"] = str(WIDTH)
    client = NotebookClient(
        nbformat.from_dict(notebook),
        timeout=600,
        record_timing=False,
        resources={"metadata": {"path": NOTEBOOK.parent}},
    )
    done = client.execute()
    done["metadata"] = notebook["metadata"]
    return done


def outputs(notebook: Any) -> list[str]:
    """What the cells show, apart from how long it took."""
    return [SECONDS.sub("... s", json.dumps(cell.get("outputs"), sort_keys=True)) for cell in notebook.cells]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument(
        "--check", action="store_true", help="only say whether the cells show what they do"
    )
    asked = arguments.parse_args()
    written = nbformat.read(NOTEBOOK, as_version=4)
    done = executed(written)
    if not asked.check:
        nbformat.write(done, NOTEBOOK)
        return 0
    pairs = zip(done.cells, outputs(done), outputs(written), strict=True)
    if stale := [cell.id for cell, now, before in pairs if now != before]:
        sys.stderr.write(f"other outputs in {NOTEBOOK}: {', '.join(stale)}; run scripts/docs notebook\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
