"""Where the program starts: `cepctl` and `python -m cepctl`.

Nothing heavy is imported before an interrupt can be answered.
"""

from __future__ import annotations

import os
import signal
import sys

_INTERRUPTED = 130
_FAILED = 4


def run() -> int:
    """Run the command line of this process; the exit code is the return value.

    Being told to end (SIGTERM, and SIGHUP when the terminal closes) ends the program as an error
    does: what is half written is removed, Java stops.  The exit code is then 128 + the signal's number.
    """
    # Python has none where the caller closed it.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                signal.signal(number, _end)
        from cepctl.cli import main

        return main()
    except KeyboardInterrupt:
        sys.stderr.write("\nerror: interrupted\n")
        return _INTERRUPTED
    except Exception:
        # A defect of ours.  Python would end with 1, which says that there were matches.
        sys.excepthook(*sys.exc_info())
        return _FAILED


def _end(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(run())
