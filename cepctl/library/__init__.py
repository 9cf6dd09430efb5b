"""What a program calls, and what it gets; the command line is written on it, and nothing is printed here."""
