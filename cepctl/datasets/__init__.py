"""Stored datasets of events: their marker, kinds, row groups, reading them back; `ingest` writes them."""
