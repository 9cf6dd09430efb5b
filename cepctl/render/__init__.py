"""What people see on a terminal; the only part that knows Rich."""
