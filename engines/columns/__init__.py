"""Events and bindings as columns: masses, predicates, range joins; no pattern's order is known here."""
