"""What commands print and write: notices, rows, accounts, metrics."""
