"""Draw docs/match.png, the picture of the README: the best match of sample_data, as `cepctl report` draws it.

.venv-test/bin/python scripts/make_picture.py      wants the packages chromium and chromium-driver
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from made_pages import ROOT
from selenium import webdriver
from selenium.webdriver.common.by import By

from cepctl.cli import main

PICTURE = ROOT / "docs" / "match.png"
WIDTH, HEIGHT = 900, 1_000
SAMPLES = ROOT / "sample_data"
MOST_BYTES = 60_000


def drawn(page: Path) -> bytes:
    """The most probable match of a report as PNG."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", f"--window-size={WIDTH},{HEIGHT}"):
        options.add_argument(argument)
    browser = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(shutil.which("chromedriver") or "")
    )
    try:
        browser.get(page.as_uri())
        return browser.find_element(By.ID, "best").screenshot_as_png
    finally:
        browser.quit()


def picture() -> bytes:
    """The picture, made of the sample logs."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        model = ("--uncertainty", str(SAMPLES / "uncertainty.toml"), "--name", "cpu_user=CPU")
        asked = ("report", f"@{SAMPLES / 'query.cep'}", str(SAMPLES / "logs"), *model)
        if code := main([*asked, "-o", str(page), "--quiet"]):
            sys.exit(code)
        return drawn(page)


if __name__ == "__main__":
    made = picture()
    if len(made) > MOST_BYTES:
        sys.exit(f"the picture has {len(made):,} bytes, and a page should load at once: draw less")
    PICTURE.write_bytes(made)
