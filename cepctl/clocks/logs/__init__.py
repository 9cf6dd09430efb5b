"""What the logs of clocks say, host by host: rows become pieces of readings with an estimate and hard bounds.

hosts       whose clock a file is about          hosts.py
files       -> rows of each host                 gathering.py, kept_rows.py
rows        -> pieces, where steps cut them      pieces.py, ends.py, steps.py, overlaps.py
pieces      -> epochs, segments, jumps           segments.py
all of it   -> the table, and what is said       table.py, summary.py
"""
