"""What the Java process says, logged by `cepctl.spark` without the lines that only make noise."""

from __future__ import annotations

import logging
import os
import threading
from typing import Any

LOGGER = "cepctl.spark"
_NOISE = (
    "WARNING: Using incubator modules",
    "WARNING: A terminally deprecated",
    "WARNING: sun.misc.Unsafe",
    "WARNING: package ",
    "Setting default log level",
    "To adjust logging level",
)


class JavaOutput:
    """A pipe that takes what the Java process prints; a thread logs it."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()

    def popen_arguments(self) -> dict[str, Any]:
        return {"stdout": self._writing, "stderr": self._writing}

    def forward(self) -> None:
        """Pass on until the Java process ends; our own writing end is closed, or it never would."""
        os.close(self._writing)
        threading.Thread(target=self._pass_on, daemon=True).start()

    def complaint(self) -> str | None:
        """What a Java process that has ended died of; its stack trace is left out."""
        os.close(self._writing)
        with os.fdopen(self._reading, encoding="utf-8", errors="replace") as lines:
            said = [line.strip() for line in lines if not line.startswith((*_NOISE, "\t", " "))]
        blamed = next((i for i, line in enumerate(said) if "Exception" in line or "Error" in line), 0)
        # What fails while Java itself starts is explained on the line below.
        complaint = ": ".join(said[blamed : blamed + 2])
        return complaint.removeprefix('Exception in thread "main" ') or None

    def _pass_on(self) -> None:
        with os.fdopen(self._reading, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if not line.startswith(_NOISE):
                    logging.getLogger(LOGGER).warning("%s", line.rstrip("\n"))
