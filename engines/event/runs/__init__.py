"""Groups in order where other events decide: runs of next match, and chains under contiguity."""
