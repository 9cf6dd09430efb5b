"""The point engine: one point event per tick, a second opinion that searches no time."""
