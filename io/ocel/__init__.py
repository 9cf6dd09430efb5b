"""Object-centric event logs, OCEL 2.0 as JSON, XML and SQLite: one event, many objects."""
