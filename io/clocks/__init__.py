"""Logs in which daemons write how wrong a clock is: each becomes rows of one form, with one sign."""
