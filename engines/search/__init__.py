"""The search: partial matches grow by range joins, a component at a time; groups grow in `kleene`."""
