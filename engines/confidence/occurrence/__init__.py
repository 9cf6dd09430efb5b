"""Whether any row of a group holds: the probability of a union of rows that share events; GROUP BY's room."""
