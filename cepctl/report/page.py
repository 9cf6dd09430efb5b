"""One self-contained page: markup, style, program and data in a single file that asks no network.

Nothing of the data is ever read as markup: it stands in a data block without a `<`, the program writes it as
text, and the page's own policy runs no program and applies no style but these two, known by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

_PROGRAM = (
    "element.js",
    "moment.js",
    "data.js",
    "histogram.js",
    "timeline.js",
    "strip.js",
    "keys.js",
    "detail.js",
    "table.js",
    "page.js",
)
_ESCAPES = {
    ord("<"): "\\u003c",
    ord(">"): "\\u003e",
    ord("&"): "\\u0026",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


def page_html(document: dict[str, Any]) -> str:
    """The page that shows a document of `cepctl.report.document`."""
    style = _part("page.css")
    program = '"use strict";\n' + "".join(_part(name) for name in _PROGRAM)
    allowed = f"img-src data:; style-src {_digest(style)}; script-src {_digest(program)}"
    parts = {
        "@policy@": f"default-src 'none'; {allowed}",
        "@style@": style,
        "@program@": program,
        "@data@": data_block(document),
    }
    page = _part("page.html")
    for mark, text in parts.items():
        before, _, after = page.partition(mark)
        page = before + text + after
    return page


def data_block(document: dict[str, Any]) -> str:
    r"""A document as JSON that no HTML parser takes for markup.

    Examples
    --------
    >>> data_block({"id": "</script>"})
    '{"id":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES)


def _part(name: str) -> str:
    return files("cepctl.report").joinpath("page", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
