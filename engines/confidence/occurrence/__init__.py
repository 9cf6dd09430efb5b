"""Whether clauses hold: the probability of a row, or that any row of a key holds, and their time range."""
