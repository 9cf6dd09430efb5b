"""Rows of events whose orders a law weighs: which orders are open, and in what share of them rows hold."""
