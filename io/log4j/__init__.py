"""Lines of log4j, and the patterns that make events of them."""
