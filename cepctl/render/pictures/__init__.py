"""Pictures of matches: a page for a browser, a trace for a trace viewer."""
