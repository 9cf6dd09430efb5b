"""Chains in closed form: what order and window alone decide; rivals are in the room `gaps`."""
