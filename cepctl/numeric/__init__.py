"""Numbers: arrays, exact ones, lengths of time as people write them, and how exact probabilities are."""
