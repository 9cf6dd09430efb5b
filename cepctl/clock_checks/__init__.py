"""What records of clocks say of stamps: how far each was ahead, and which known orders they exclude.

stamps      -> estimate and hard bounds of each      stamps.py
orders      -> the pairs that the bounds exclude     excluded.py
a match     -> what was recorded of its clocks       evidence.py
"""
