"""Matches of events that share clocks: measured given the offsets of the clocks, and summed over these."""
