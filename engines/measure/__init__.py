"""Which method measures which match; the methods themselves are in the room `confidence`."""
