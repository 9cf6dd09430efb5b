"""Sketches of datasets: small summaries that tell, without the events, where a pattern cannot occur."""
