"""What records of clocks say of stamps: how far each was ahead, and which known orders they exclude.

stamps      -> estimate and hard bounds of each      stamps.py
orders      -> the pairs that the bounds exclude     excluded.py
events      -> what was recorded of their clocks     evidence.py
a dataset   -> its tables, host by host              in_use.py
names       -> the tables, if they are as they were  tables.py
"""
