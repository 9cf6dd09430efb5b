"""Chains whose rivals must stay out of gaps: a table for each gap, or densities carried over several."""
