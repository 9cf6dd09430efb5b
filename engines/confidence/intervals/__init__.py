"""Matches that bind interval events: conditions on both endpoints, their range and their exact confidence.

stage       module                                what it makes of the one before
asked       conditions, measure                   cases: difference constraints over starts and ends
open        edges                                 the edges that some ticks violate, and what they couple
rivals      rivals                                who may break a match, and how
problems    problems                              what is summed together, as coupled problems
sums        sums: orders, few_endpoints           the probability of what is coupled
measured    independent, on_clocks, tied_matches  confidence and range: plain, on clocks, beside GIVEN
asked for   search, unions                        matches, within a span each, keys of GROUP BY
"""
