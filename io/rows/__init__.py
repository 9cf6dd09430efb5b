"""Rows of matches as text, Parquet or Arrow, and how a file's name tells which; logs are not read here."""
