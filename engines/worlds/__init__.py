"""The worlds engine, the judge: every possible world in rational arithmetic; no code shared."""
