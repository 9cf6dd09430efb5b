"""What a set of events is like, and what its own times say about how far they can be trusted."""
