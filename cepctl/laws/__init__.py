"""Laws of order: how much more probable one order of a key's events is than another."""
