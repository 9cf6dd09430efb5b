"""The command of scripts/fuzz: random cases until time is up, what failed, and what was tried."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from pathlib import Path

from cepctl.errors import UsageError
from tests.fuzzing.constructs import MEANINGS, NAMES, require_together
from tests.fuzzing.findings import keep
from tests.fuzzing.tally import Tally
from tests.fuzzing.workers import judged_cases

_PRINTED_OF_A_KIND = 3


def main(arguments: list[str] | None = None) -> int:
    """Run cases; 1 where one failed."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.list:
        for name in NAMES:
            _say(f"{name:22}{MEANINGS.get(name, '')}".rstrip())
        return 0
    only = frozenset(name for name in asked.only.split(",") if name)
    try:
        require_together(only)
    except UsageError as error:
        parser.error(str(error))
    seed = asked.seed or str(secrets.randbelow(10**9))
    # Each process has one core: threads of Polars would only wait for each other.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    return _run(asked, seed, only)


def _run(asked: argparse.Namespace, seed: str, only: frozenset[str]) -> int:
    folder = Path(asked.output) / seed
    began, tally = time.monotonic(), Tally()
    cases = judged_cases(seed, only, asked.processes, asked.seconds, asked.cases)
    try:
        _say(f"seed {seed}, {asked.processes} processes")
        for judged in cases:
            if not judged.smaller:
                tally.add(judged)
                continue
            text = keep(judged, folder)
            if tally.add_smaller(judged) <= _PRINTED_OF_A_KIND:
                _say(text)
    except KeyboardInterrupt:
        _say("interrupted")
    finally:
        cases.close()
    for line in tally.lines(time.monotonic() - began):
        _say(line)
    failed = tally.outcomes["failed"]
    _say(f"{failed} failed, kept in {folder}" if failed else "no disagreement")
    return 1 if failed else 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _word(text: str) -> str:
    """A seed, which names a folder as well."""
    if not text.isalnum():
        raise argparse.ArgumentTypeError("letters and digits")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/fuzz",
        description="Random queries on random events: the event engine against the worlds engine.",
    )
    parser.add_argument("--seconds", type=float, default=60.0, metavar="N", help="for how long [60]")
    parser.add_argument("--cases", type=int, metavar="N", help="stop after so many cases")
    parser.add_argument(
        "--seed", type=_word, metavar="S", help="a word that says which cases; left out: others each time"
    )
    parser.add_argument(
        "--only", default="", metavar="CONSTRUCT,...", help="only cases that have all of these constructs"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the constructs")
    parser.add_argument(
        "--processes",
        type=int,
        metavar="N",
        default=len(os.sched_getaffinity(0)),
        help="how many work at once [one for each core]; changes no case",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="fuzz-results",
        metavar="FOLDER",
        help="where failing cases are kept [fuzz-results]",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
