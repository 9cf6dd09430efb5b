"""What known orders of events say of the difference of two clocks: the lines that lie within all their
bounds.

events      -> bounds of the differences of clocks      pairs.py, bounds.py
bounds      -> the extremes of the lines in windows     lines.py, windows.py
windows     -> clocks against the reference             chains.py
clocks      -> pieces with an estimate and bounds       event_hulls.py
"""
