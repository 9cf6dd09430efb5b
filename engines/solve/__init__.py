"""The one door: which method measures which matches, as an ordered list."""
