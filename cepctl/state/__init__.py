"""Incremental runs: what is new in the inputs, what can be said of it now, and what must be remembered."""
