"""What the times of logs are worth: for each source what is known, open or wrong, and what settles it."""
