"""The rows of the answer: their order, their counts, and sorted runs of them on disk."""
