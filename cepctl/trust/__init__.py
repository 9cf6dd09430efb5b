"""What must not be obeyed: files that others could have changed, modules that lie in the working folder."""
