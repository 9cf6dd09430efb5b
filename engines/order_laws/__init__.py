"""The exact table of a key under a law of order: how probable each order of its events is."""
