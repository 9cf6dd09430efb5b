"""Ganglia: XML of gmond, round-robin archives and their dumps, exports of the web pages."""
