"""Metrics as monitoring writes them to text: one event per sample, whose type is the metric."""
