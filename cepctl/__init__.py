"""cepctl: pattern matching over logs whose timestamps cannot be trusted to the tick."""

__version__ = "0.1.0"
