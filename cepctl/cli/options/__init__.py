"""Options that commands share, and where their values come from: environment, file, command line."""
