"""Laws of order in the engines: what the factors of a key's orders make of its worlds."""
