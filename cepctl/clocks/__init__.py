"""Clocks of hosts: what several events share, what logs of clocks say, and what known orders say of them.

offsets     that all events of a clock share, and that are tied to each other    shared.py, ties.py
logs        of clocks -> pieces of readings with bounds                           logs
orders      of events -> lines between the bounds of two clocks                   hulls
records     against known orders, and what they say of stamps                     checks
"""
