"""What matches ask of ticks, as clauses in one form for all of them; and sampled worlds of these."""
