"""What people see: tables on a terminal, by the only part that knows Rich, and pictures."""
