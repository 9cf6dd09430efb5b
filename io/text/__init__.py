"""Text of any other kind, of which patterns of the user make events."""
