"""What a user chooses of how a plan is run: the engine, and what a row is where groups are listed."""

from __future__ import annotations

from typing import Literal

Engine = Literal["event", "point", "worlds"]
ENGINES: tuple[Engine, ...] = ("event", "point", "worlds")
KleeneRows = Literal["groups", "summary"]
KLEENE_ROWS: tuple[KleeneRows, ...] = ("groups", "summary")
