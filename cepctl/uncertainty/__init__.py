"""Uncertainty models: which interval, or histogram, of ticks a logged time stands for.

model.py        TOML -> frozen rules, checked
shapes.py       a rule's durations -> offsets in ticks
assign.py       rules and defaults applied to whole columns of raw events
"""
