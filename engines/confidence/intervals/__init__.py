"""Matches that bind interval events: conditions on both endpoints, their range and their exact confidence.

stage       module                 what it makes of the one before
asked       conditions, measure    cases: difference constraints over starts and ends; who may break a match
open        edges                  the edges that some ticks violate, and what they couple
alone       independent, sums      matches that nothing can break: closed forms of what open edges couple
clauses     clauses                all others, and keys of GROUP BY: clauses, laws and ties
measured    rows                   confidence and range of matches, occurrence of keys
asked for   search, rivals         matches, and the events that may break them
"""
