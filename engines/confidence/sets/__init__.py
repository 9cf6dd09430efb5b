"""Sets whose members lie between two events, without rivals or timing: all else is in `coupled`."""
