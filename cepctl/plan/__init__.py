"""Planning: a query resolved against an event schema, and how it will be run."""
