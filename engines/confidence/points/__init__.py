"""What is asked of matches that bind points, and blocks of them that fit in memory; the door is `solve`."""
