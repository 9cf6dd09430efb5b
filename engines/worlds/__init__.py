"""The worlds engine, the judge: every possible world in rational arithmetic, by a search of its own."""
