"""Matches that bind points: what is asked of them, as rows of clauses, in blocks that fit in memory."""
