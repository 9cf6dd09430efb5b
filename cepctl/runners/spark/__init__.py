"""Spark and Java: sessions, what their processes print, Python workers; no job is defined here."""
