"""Kleene groups: which can be, how many, and how they grow; their confidence is measured like any other."""
