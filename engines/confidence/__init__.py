"""Confidence and time range of matches already found, a room per method; no match is sought here."""
