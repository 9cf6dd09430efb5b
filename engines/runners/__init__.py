"""Where an engine runs: slices of the events, threads here or tasks of a runner; no slice changes a row."""
