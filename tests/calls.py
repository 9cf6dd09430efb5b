"""Commands as a user calls them, in this process."""

from __future__ import annotations

import pytest

from cepctl.cli import main


def called(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    """Standard output and standard error of one call alone."""
    capsys.readouterr()
    assert main(list(words)) == code
    told = capsys.readouterr()
    return told.out, told.err
