"""Tables whose header stands in comments at the top, and may change further down: Zeek, W3C extended logs."""
