"""One self-contained page: markup, style, program and data in a single file that asks no network.

Nothing of the data is ever read as markup: it stands in a data block without a `<`, the program writes it as
text, and the page's own policy runs no program and applies no style but these two, known by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files as files_of
from typing import Any


@dataclass(frozen=True)
class PageParts:
    """Its title, and the files that a page is made of: markup, style and program, each in this order."""

    title: str
    markup: str
    style: tuple[str, ...]
    program: tuple[str, ...]


_OF_MATCHES = (
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
MATCHES = PageParts("Matches", "page.html", ("page.css",), _OF_MATCHES)
CALIBRATION = PageParts(
    "Calibration", "calibration.html", ("page.css", "calibration.css"), ("element.js", "calibration.js")
)
_ESCAPES = {
    ord("<"): "\\u003c",
    ord(">"): "\\u003e",
    ord("&"): "\\u0026",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


def page_html(document: dict[str, Any], files: PageParts = MATCHES) -> str:
    """The page that shows a document, of `cepctl.render.pictures.document` unless other files are named."""
    style = "".join(_part(name) for name in files.style)
    program = '"use strict";\n' + "".join(_part(name) for name in files.program)
    allowed = f"img-src data:; style-src {_digest(style)}; script-src {_digest(program)}"
    parts = {
        "@title@": files.title,
        "@policy@": f"default-src 'none'; {allowed}",
        "@style@": style,
        "@program@": program,
        "@data@": data_block(document),
    }
    page = _part("head.html") + _part(files.markup)
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
    return files_of("cepctl.render.pictures").joinpath("page", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
