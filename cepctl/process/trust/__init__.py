"""What must not be obeyed: files that others could have changed, modules that lie in the working folder.

Nor TOML that is nested without end, which may lie beside logs.
"""
