"""The notebook among the pages shows what its cells show when they are run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.python_cells import Shown, run_cell

ROOT = Path(__file__).resolve().parents[2]
SECONDS = re.compile(r"\d+\.\d s\b")


def text_of(output: dict[str, Any], kind: str) -> str | None:
    """A stored output in one form; None where it does not have it."""
    stored = output.get("data", {}).get(kind)
    return None if stored is None else SECONDS.sub("... s", "".join(stored))


def compared(shown: Shown) -> list[dict[str, str | None]]:
    """What a cell shows, in the forms that a notebook stores."""
    outputs: list[dict[str, str | None]] = []
    if shown.printed:
        outputs.append({"printed": shown.printed})
    if shown.value is not None:
        html = shown.value._repr_html_() if hasattr(shown.value, "_repr_html_") else None
        forms = {"text/plain": repr(shown.value), "text/html": html}
        outputs.append({kind: text and SECONDS.sub("... s", text) for kind, text in forms.items()})
    return outputs


def stored(cell: dict[str, Any]) -> list[dict[str, str | None]]:
    """What a cell of the notebook has shown."""
    return [
        {"printed": "".join(output["text"])}
        if output["output_type"] == "stream"
        else {kind: text_of(output, kind) for kind in ("text/plain", "text/html")}
        for output in cell["outputs"]
    ]


def test_cells_show_what_the_notebook_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    monkeypatch.setenv("COLUMNS", "120")
    cells = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {}
    shown = [
        compared(run_cell("".join(cell["source"]), names)) for cell in cells if cell["cell_type"] == "code"
    ]
    assert shown == [stored(cell) for cell in cells if cell["cell_type"] == "code"]
    assert sum("<iframe" in (each.get("text/html") or "") for cell in shown for each in cell) == 1
