"""A pattern as the engines see it: difference constraints, blocks, rivals; no confidence is computed here."""
