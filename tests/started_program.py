"""A `cepctl` for the shells of tests that has started up already: each call is a fork of one process.

To import its libraries is most of what a small command costs.  Here one server imports them; the program
that shells find hands over its words, folder, environment and open files, and ends as the command does.
Tests of the start-up itself, and of what depends on it, call the real program.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.loaded_program import load_program

ROOT = Path(__file__).resolve().parent.parent
_LENGTH = 8
_MOST_FILES = 64
_MOST_NUMBERS = 512
"""Shells number the files of `<(command)` from 63 downwards."""
# Isolated and without site: an interpreter that starts in a few hundredths of a second.
_CLIENT = """#!{python} -IS
import json, os, signal, socket, sys
def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False
server = socket.socket(socket.AF_UNIX)
server.connect({path!r})
# Shells hand over more than the three, as for <(command).
files = [each for each in map(int, os.listdir("/proc/self/fd")) if each != server.fileno() and is_open(each)]
said = json.dumps([sys.argv, os.getcwd(), dict(os.environ), os.umask(0), files]).encode()
socket.send_fds(server, [len(said).to_bytes({length}, "big")], files)
server.sendall(said)
for each in files:
    os.close(each)
answers = server.makefile()
command = int(answers.readline())
for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
    signal.signal(number, lambda number, _: os.kill(command, number))
code = int(answers.readline())
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@contextmanager
def started_program(folder: Path) -> Iterator[Path]:
    """The folder, now with a program `cepctl` in it, for as long as the block runs."""
    path, program = folder / "socket", folder / "cepctl"
    program.write_text(_CLIENT.format(python=sys.executable, path=str(path), length=_LENGTH))
    program.chmod(0o700)
    server = subprocess.Popen(
        [sys.executable, __file__, str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        yield folder
    finally:
        server.kill()
        server.communicate()


def _serve(path: str) -> None:
    load_program()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        client, _ = listener.accept()
        # One process waits for the command and tells its end, so that the next call is answered at once.
        if not os.fork():
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _answer(client)
        client.close()


def _answer(client: socket.socket) -> None:
    length, received, _, _ = socket.recv_fds(client, _LENGTH, _MOST_FILES)
    stream = client.makefile("rb")
    words, folder, environment, umask, numbers = json.loads(stream.read(int.from_bytes(length, "big")))
    # Out of the way of the numbers that they have in the command.
    files = {
        number: fcntl.fcntl(each, fcntl.F_DUPFD, _MOST_NUMBERS)
        for number, each in zip(numbers, received, strict=True)
    }
    for each in received:
        os.close(each)
    command = os.fork()
    if not command:
        stream.close()
        client.close()
        _be_the_command(words, folder, environment, umask, files)
    for each in (0, 1, 2, *files.values()):
        os.close(each)
    client.sendall(f"{command}\n".encode())
    client.sendall(f"{os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])}\n".encode())
    os._exit(0)


def _be_the_command(
    words: list[str], folder: str, environment: dict[str, str], umask: int, files: dict[int, int]
) -> None:
    for number, each in files.items():
        os.dup2(each, number)
        os.close(each)
    os.umask(umask)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = words
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
    from cepctl.__main__ import start

    start()


if __name__ == "__main__":
    _serve(sys.argv[1])
