"""Logs of databases whose records are of several lines: the slow log of MySQL and MariaDB."""
