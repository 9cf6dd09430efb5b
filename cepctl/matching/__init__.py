"""Running a query on events, for a command line or a program; nothing is printed here."""
