"""What the engines are called."""

from __future__ import annotations

from typing import Literal

Engine = Literal["event", "point", "worlds"]
ENGINES: tuple[Engine, ...] = ("event", "point", "worlds")
