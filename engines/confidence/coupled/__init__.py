"""Everything else: nested sums over cells of time, and sampled worlds where those cost too much."""
