"""Writes RRD files as rrdtool's C structures would lie in the memory of some machine.

Field by field, with the alignment that a C compiler would add: independent of how they are read.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

NAN = float("nan")


@dataclass(frozen=True)
class Ring:
    """An archive: rows from the oldest to the newest, and how many steps each stands for."""

    rows: Sequence[Sequence[float]]
    steps: int = 1
    function: str = "AVERAGE"
    newest: int = 0


@dataclass(frozen=True)
class Machine:
    """Byte order (of struct), bytes of a word, and what doubles are aligned to."""

    order: str = "<"
    word: int = 8
    alignment: int = 8


@dataclass
class Memory:
    """Values one after the other, each aligned as the machine has it."""

    machine: Machine
    data: bytearray = field(default_factory=bytearray)

    def pad(self, alignment: int) -> None:
        self.data.extend(b"\0" * (-len(self.data) % alignment))

    def text(self, text: str, size: int) -> None:
        self.data.extend(text.encode().ljust(size, b"\0"))

    def words(self, *values: int) -> None:
        self.pad(self.machine.word)
        kind = "q" if self.machine.word == 8 else "i"
        self.data.extend(struct.pack(f"{self.machine.order}{len(values)}{kind}", *values))

    def doubles(self, *values: float) -> None:
        self.pad(self.machine.alignment)
        self.data.extend(struct.pack(f"{self.machine.order}{len(values)}d", *values))


X86_64 = Machine()
MACHINES = {
    "x86-64": X86_64,
    "big-endian, 64 bits": Machine(">"),
    "x86, 32 bits": Machine("<", 4, 4),
    "big-endian, 32 bits": Machine(">", 4, 4),
}


def rrd_bytes(
    rings: Sequence[Ring],
    *,
    last: int,
    sources: Sequence[str] = ("sum",),
    step: int = 15,
    machine: Machine = X86_64,
    version: str = "0003",
) -> bytes:
    """A whole file whose last update was at `last`."""
    memory = Memory(machine)
    memory.text("RRD\0" + version, 9)
    memory.doubles(8.642135e130)
    memory.words(len(sources), len(rings), step)
    memory.doubles(*[0.0] * 10)
    for name in sources:
        memory.text(name, 20)
        memory.text("GAUGE", 20)
        memory.doubles(120.0, NAN, NAN, *[0.0] * 7)
    for ring in rings:
        memory.text(ring.function, 20)
        memory.words(len(ring.rows), ring.steps)
        memory.doubles(0.5, *[0.0] * 9)
    memory.words(last, *([0] if version >= "0003" else []))
    for _ in sources:
        memory.text("U", 30)
        memory.doubles(*[0.0] * 10)
    for _ in range(len(rings) * len(sources)):
        memory.doubles(*[0.0] * 10)
    memory.words(*(ring.newest for ring in rings))
    for ring in rings:
        # The newest row stands at its place in the ring, the oldest behind it.
        count = len(ring.rows)
        for place in range(count):
            memory.doubles(*ring.rows[(place - ring.newest - 1) % count])
    return bytes(memory.data)
