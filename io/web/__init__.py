"""Logs of web servers: who asked for what, and what the answer was."""
