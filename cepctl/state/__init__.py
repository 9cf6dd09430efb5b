"""Incremental runs: what is new in the inputs, what can be emitted now, and what must be remembered."""
