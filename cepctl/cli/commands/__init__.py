"""One module a command, named as it is called: arguments in, exit code out."""
