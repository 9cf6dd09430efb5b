"""How kernels run: interpreted as they stand, and compiled where the work that is left is worth it."""
