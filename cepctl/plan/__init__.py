"""From a parsed query to what the engines run."""
