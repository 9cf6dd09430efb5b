"""Templates of messages: what is alike in the lines of a log, and what varies."""
