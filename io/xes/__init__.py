"""XES, the event logs of process mining."""
