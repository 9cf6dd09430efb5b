"""Calibration: true times are hidden, and what is then stated is held to what happened."""
