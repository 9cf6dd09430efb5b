"""Logs of containers, as their runtimes write them to files."""
