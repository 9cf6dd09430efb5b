"""Chains whose rivals reach one gap each: a table per gap; what ties gaps together is in `coupled`."""
