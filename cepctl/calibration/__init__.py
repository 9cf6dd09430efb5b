"""Calibration: times that are known are hidden, and what is stated of hidden ones is held to what happened."""
