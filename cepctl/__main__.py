"""Where the program starts: `cepctl` and `python -m cepctl`.

Nothing heavy is imported before an interrupt can be answered.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

from cepctl.process.limited_memory import beware, ends_by_itself, may_be_want_of_memory, want_of_memory

_INTERRUPTED = 130
_FAILED = 4
_SIGNALLED = 128


def start() -> NoReturn:
    """Run the command line of this process, and leave the process with its exit code.

    What is registered for the end of the process still runs.  Python would then take apart every module
    that was imported, object by object, which takes longer than many a command.
    """
    beware()
    code = run()
    if _is_profiled():
        ends_by_itself()
        sys.exit(code)
    atexit._run_exitfuncs()
    _leave(code)


def run() -> int:
    """Run the command line of this process; the exit code is the return value.

    Being told to end (SIGTERM, and SIGHUP when the terminal closes) ends the program as an error
    does: what is half written is removed, Java stops.  The exit code is then 128 + the signal's number.
    """
    # Python has none where the caller closed it.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123
    try:
        from cepctl.process.interrupts import end_soon_after_signals
        from cepctl.process.terminal import guard_terminals

        guard_terminals()
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                signal.signal(number, _end)
        end_soon_after_signals(_tell)
        from cepctl.process.start_up import compile_methods_late

        compile_methods_late()
        from cepctl.cli import main

        code = main()
        if code > _SIGNALLED:
            _leave(code)
        return code
    except KeyboardInterrupt:
        sys.stderr.write("\nerror: interrupted\n")
        return _INTERRUPTED
    except BaseException as problem:  # also PanicException of Polars, which is no Exception
        if isinstance(problem, SystemExit):
            raise
        if may_be_want_of_memory(problem):
            sys.stderr.write(want_of_memory(f"{type(problem).__name__} {problem}".partition("\n")[0].strip()))
        else:
            # A defect of ours.  Python would end with 1, which says that there were matches.
            sys.excepthook(*sys.exc_info())
        return _FAILED


def _is_profiled() -> bool:
    """Whether somebody looks on who has a word to say once the program returns, such as cProfile."""
    monitoring = getattr(sys, "monitoring", None)
    tools = () if monitoring is None else map(monitoring.get_tool, range(6))
    return sys.getprofile() is not None or sys.gettrace() is not None or any(tools)


def _leave(code: int) -> NoReturn:
    """End now: threads may still be at work, and Python would wait for some of them."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    ends_by_itself()
    os._exit(code)


def _tell(number: int) -> None:
    if number == signal.SIGINT:
        from cepctl.cli.output.notices import guess_log_format, in_json, say

        guess_log_format(sys.argv[1:])
        if not in_json():
            sys.stderr.write("\n")
        say("error", "interrupted")


def _end(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    start()
