"""Where an engine runs: slices of the events, local threads or Spark tasks; no slice changes a row."""
